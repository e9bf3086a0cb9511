import type { LiveRun } from "../../../src/contract/launcher.ts";

/** What a simulated run has besides its stop: it prints nothing and is not measured. */
export const silentRun: Omit<LiveRun, "stop"> = {
  output: { recent: () => [], published: 0, subscribe: () => () => {} },
  resourcesNow: () => null,
};

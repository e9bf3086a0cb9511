import { randomBytes } from "node:crypto";
import { afterEach } from "vitest";
import { type Clock, systemClock } from "../../../src/platform/clock.ts";
import { systemSpawner } from "../../../src/platform/spawn/system-spawner.ts";
import type { Push } from "../../../src/report/push/push.ts";
import { createReporting, type RunningReporting } from "../../../src/report/reporting.ts";
import { type LogLines, logLines } from "../../support/log-lines.ts";

const spawner = systemSpawner(() => {});
const opened: { close(): Promise<void> | void }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

/** Closes it when the test ends. */
export function closing<T extends { close(): Promise<void> | void }>(one: T): T {
  opened.push(one);
  return one;
}

/** Reporting as the daemon has it, with a log to look into. Closed when the test ends. */
export function startReporting(
  options: { readonly clock?: Clock; readonly push?: Push | null } = {},
): LogLines & { readonly reporting: RunningReporting } {
  const logged = logLines();
  const reporting = closing(
    createReporting({
      log: logged.log,
      clock: options.clock ?? systemClock,
      host: "node-1",
      push: () => options.push ?? null,
      spawner,
      randomHex: (bytes) => randomBytes(bytes).toString("hex"),
    }),
  );
  return { ...logged, reporting };
}

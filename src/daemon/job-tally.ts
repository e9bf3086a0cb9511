import type { CountersSnapshot } from "../contract/counters.ts";
import type { Events } from "../contract/events.ts";
import type { JobTally } from "../metrics/job-counters.ts";

/** What is counted of jobs, for the API to show and the journal to keep. Nothing is counted before one of them wants it. */
export function jobTally(events: Events): { load(): Promise<JobTally>; snapshot(): CountersSnapshot } {
  let loading: Promise<JobTally> | null = null;
  let loaded: JobTally | null = null;
  return {
    load() {
      loading ??= import("../metrics/job-counters.ts").then(({ createJobTally }) => {
        loaded = createJobTally(events);
        return loaded;
      });
      return loading;
    },
    snapshot: () => loaded?.snapshot() ?? { bounds: [], jobs: new Map() },
  };
}

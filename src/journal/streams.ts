/** Names of the streams the scheduler keeps (LAY-1), and how many newest records of each survive a prune. */
export const jobStreams = {
  runs: (job: string) => `runs/${job}`,
  logs: (job: string) => `logs/${job}`,
  inflight: (job: string) => `inflight/${job}`,
  retries: (job: string) => `retries/${job}`,
  paused: (job: string) => `paused/${job}`,
  reboot: (job: string) => `reboot/${job}`,
  catchup: (job: string) => `catchup/${job}`,
  missed: (job: string) => `missed/${job}`,
} as const;

export const dagCatchupStream = (dag: string): string => `catchup-dag/${dag}`;
export const countersStream = (host: string): string => `counters/${host}`;
export const manifestsStream = (host: string): string => `manifests/${host}`;

/** Records kept per stream (LAY-1). The ledger and the archive keep `maxRunsPerJob`, see `ledgerKeep`. */
export const keep = {
  inflight: 8,
  retries: 8,
  paused: 8,
  catchup: 8,
  reboot: 32,
  counters: 4,
  manifests: 512,
  missed: 50,
} as const;

/**
 * Records kept of a job's ledger and archive. One would leave no room for a pair of nodes whose records landed inverted: the prune
 * goes by name and would keep the older run (OPS-4). Undefined: all of them.
 */
export function ledgerKeep(maxRunsPerJob: number): number | undefined {
  return maxRunsPerJob <= 0 ? undefined : Math.max(2, maxRunsPerJob);
}

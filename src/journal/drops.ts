import type { Logger } from "../contract/log.ts";
import type { Outcome } from "../store/store.ts";

/** What a durable write was for; the label of `cronstable_state_dropped_writes_total` (WRT-1, WRT-3). */
export const writeKinds = [
  "run-record",
  "checkpoint",
  "retry",
  "reboot-marker",
  "inflight",
  "counters",
  "manifest",
  "pause",
  "overflow",
] as const;

export type WriteKind = (typeof writeKinds)[number];

/** Durable writes that were lost, by kind. One that was not answered in time counts: it may have landed, and nobody knows. */
export interface Drops {
  /** Counts and warns, once per loss. `what` names the job or host. */
  lost(kind: WriteKind, what: string, because: string): void;
  /** Since the process started. */
  counts(): Readonly<Record<WriteKind, number>>;
}

export function createDrops(log: Pick<Logger, "warning">): Drops {
  const counts = Object.fromEntries(writeKinds.map((kind) => [kind, 0])) as Record<WriteKind, number>;
  return {
    lost(kind, what, because) {
      counts[kind]++;
      log.warning(`state: dropped a durable write (${kind}) of ${what}: ${because}`);
    },
    counts: () => ({ ...counts }),
  };
}

/** Why an operation brought nothing, for a log line. */
export function failureText(outcome: Exclude<Outcome<unknown>, { kind: "done" }>): string {
  return outcome.kind === "unknown" ? outcome.because : outcome.failure.message;
}

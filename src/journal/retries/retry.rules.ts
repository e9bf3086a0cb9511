import type { JobConfig, RetryConfig } from "../../config/model.ts";
import type { RetrySettled } from "../../contract/events.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { CLAIM_GRACE_MS } from "../limits.ts";
import { armInstant, type HandoffRecord, type PendingRecord, type RetryRecord } from "./retry-record.ts";

/** What decides about a recorded retry of a configured job. */
export interface RetryFacts {
  readonly host: string;
  readonly now: EpochMs;
  readonly jobDigest: string;
  readonly enabled: boolean;
  readonly maximumRetries: RetryConfig["maximumRetries"];
  readonly startingDeadlineSeconds: number | null;
  /** The job has a live run or a retry sequence on this node. */
  readonly busy: boolean;
  /** When a run of the job last ended, as far as is known (WM-2); null when none did. */
  readonly lastCompletedAt: EpochMs | null;
}

export function retryFacts(
  { enabled, retry, startingDeadlineSeconds }: JobConfig,
  known: Pick<RetryFacts, "host" | "now" | "jobDigest" | "busy" | "lastCompletedAt">,
): RetryFacts {
  return { ...known, enabled, maximumRetries: retry.maximumRetries, startingDeadlineSeconds };
}

/** A retry to go on with: at its attempt, when it is due. */
export interface ResumedRetry {
  readonly attempt: number;
  readonly dueAt: EpochMs;
  readonly armedAt: EpochMs;
}

export type Rearmament =
  | { readonly next: "arm"; readonly retry: ResumedRetry }
  | { readonly next: "settle"; readonly reason: RetrySettled; readonly attempt: number | null }
  | { readonly next: "leave"; readonly because: "busy" | "nothing pending" | "another host's" };

/**
 * What becomes of a job's newest retry record at start (RET-9). Where it is doubtful the retry is settled: better no run than two
 * (RET-7).
 *
 * @param reboot for `@reboot` jobs, whether the boot marker shows that this boot's run has been (RET-8); null for the others
 */
export function rearmament(
  record: RetryRecord | null,
  facts: RetryFacts,
  reboot: { readonly covered: boolean } | null,
): Rearmament {
  if (facts.busy) return { next: "leave", because: "busy" };
  if (record?.kind === "invalid pending") {
    if (record.host !== null && record.host !== facts.host) return { next: "leave", because: "another host's" };
    return { next: "settle", reason: "invalid-record", attempt: null };
  }
  if (record?.kind !== "pending") return { next: "leave", because: "nothing pending" };
  if (record.host !== facts.host) return { next: "leave", because: "another host's" };
  const moot = whyMoot(record, facts);
  if (moot !== null) return { next: "settle", reason: moot, attempt: record.attempt };
  if (reboot !== null && !reboot.covered)
    return { next: "settle", reason: "superseded-by-reboot", attempt: record.attempt };
  return { next: "arm", retry: resumed(record) };
}

export type Claimability =
  | { readonly next: "claim"; readonly record: PendingRecord | HandoffRecord; readonly from: string }
  | { readonly next: "settle"; readonly record: HandoffRecord; readonly reason: RetrySettled }
  | { readonly next: "leave" };

/**
 * Whether this node, the job's owner, may try to take a retry over from another one (RSM-3, RSM-4): a handoff at once, a pending retry
 * when it is half a minute late. What is not claimable is left as it is; only its own node, or a newer run, may settle it. A handoff is
 * nobody's, though: one that the owner cannot go on with ends here, or it would stand open for ever.
 */
export function claimability(record: RetryRecord | null, facts: RetryFacts): Claimability {
  if (facts.busy || (record?.kind !== "pending" && record?.kind !== "handoff")) return { next: "leave" };
  if (record.kind === "pending") {
    if (record.host === facts.host) return { next: "leave" };
    if (facts.now < Math.max(record.notBefore, armInstant(record)) + CLAIM_GRACE_MS) return { next: "leave" };
  }
  const moot = whyMoot(record, facts);
  if (moot !== null) return record.kind === "handoff" ? { next: "settle", record, reason: moot } : { next: "leave" };
  return { next: "claim", record, from: record.kind === "handoff" ? record.fromHost : record.host };
}

/** Who may launch a due retry, by the newest record under the claim lease (RSM-5). A handoff and an unreadable record abort nobody. */
export function launchOwner(record: RetryRecord | null, host: string): { readonly foreign: string } | "ours" {
  if (record === null || record.kind === "handoff" || record.host === null || record.host === host) return "ours";
  return { foreign: record.host };
}

/** A run that ended after the retry was armed has taken its place; one that ended before and was recorded later has not (RET-11). */
export function isSuperseded(record: PendingRecord | HandoffRecord, lastCompletedAt: EpochMs | null): boolean {
  return lastCompletedAt !== null && lastCompletedAt > armInstant(record);
}

export function resumed(record: PendingRecord | HandoffRecord): ResumedRetry {
  return { attempt: record.attempt, dueAt: record.notBefore, armedAt: armInstant(record) };
}

function whyMoot(record: PendingRecord | HandoffRecord, facts: RetryFacts): RetrySettled | null {
  const { maximumRetries, startingDeadlineSeconds, now } = facts;
  if (record.jobDigest !== facts.jobDigest || maximumRetries === 0) return "config-changed";
  if (isSuperseded(record, facts.lastCompletedAt)) return "superseded-by-run";
  if (!facts.enabled) return "disabled";
  if (maximumRetries !== "unlimited" && record.attempt > maximumRetries) return "exhausted";
  const lateSeconds = (now - record.notBefore) / 1000;
  if (startingDeadlineSeconds !== null && lateSeconds > startingDeadlineSeconds) return "deadline-passed";
  return null;
}

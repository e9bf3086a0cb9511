import type { JobConfig } from "../../config/model.ts";
import type { NotRunReason } from "../../contract/reason.ts";
import type { EpochMs } from "../../platform/clock.ts";
import type { DaemonEntry, Entry, MissedEntry, RunEntry } from "./account.ts";

/** What of a job the wording needs; null for a workflow. */
type Worded = Pick<JobConfig, "retry" | "concurrencyPolicy" | "startingDeadlineSeconds" | "onMissed"> | null;

export type InZone = (at: EpochMs) => string;

/** The `what` of an entry, in the table and in JSON. */
export function whatOf(entry: Entry): string {
  switch (entry.kind) {
    case "run":
      if (entry.trigger.kind === "catch-up") return "caught up";
      if (entry.trigger.kind === "retry") return "retried";
      return entry.overlaps > 0 ? "overlaps" : "runs";
    case "daemon":
      return daemonWords[entry.what];
    default:
      return entry.kind;
  }
}

const daemonWords: Readonly<Record<DaemonEntry["what"], string>> = {
  starts: "daemon starts",
  stopped: "daemon stops",
  killed: "daemon is killed",
  gone: "daemon is gone",
};

/** The `why` of an entry. */
export function whyOf(entry: Entry, job: Worded, inZone: InZone): string {
  switch (entry.kind) {
    case "run":
      return [triggerText(entry, job, inZone), ...overlapText(entry)].join("; ");
    case "skipped": {
      const { trigger, reason } = entry;
      const asked =
        trigger.kind === "schedule" || trigger.kind === "boot" ? "" : `${triggerText(entry, job, inZone)}: `;
      return `${asked}${reasonText(reason, inZone)}`;
    }
    case "missed":
      return missedText(entry, job, inZone);
    case "daemon":
      return daemonText(entry);
  }
}

function triggerText({ trigger }: Pick<RunEntry, "trigger">, job: Worded, inZone: InZone): string {
  switch (trigger.kind) {
    case "schedule":
      return job === null ? "schedule; its tasks are not simulated" : "schedule";
    case "boot":
      return "@reboot";
    case "retry": {
      const most = job?.retry.maximumRetries ?? "unlimited";
      return `retry ${trigger.attempt}${most === "unlimited" ? "" : ` of ${most}`}`;
    }
    case "catch-up":
      return `onMissed: ${job?.onMissed ?? "run-once"}, for the slot of ${inZone(trigger.slot)}`;
    case "manual":
    case "dag":
      return trigger.kind;
  }
}

function overlapText({ overlaps }: RunEntry): string[] {
  return overlaps === 0 ? [] : [`${overlaps} ${overlaps === 1 ? "run" : "runs"} of it still going`];
}

/** A reason as a person reads it; its kind is the one that history, metrics and the log have. */
export function reasonText(reason: NotRunReason, inZone: InZone): string {
  switch (reason.kind) {
    case "paused":
      return `paused until ${inZone(reason.until)} (${reason.note})`;
    case "last-run-failed":
      return "onlyIfLastSucceeded, and its last run did not succeed";
    case "forbidden":
      return `concurrencyPolicy: Forbid, and ${reason.running === 1 ? "a run" : `${reason.running} runs`} of it still going`;
    case "slot-held":
      return `its cluster slot is held by ${reason.holder}`;
    case "store-unavailable":
      return `the store does not give ${reason.what}`;
    case "not-owner":
      return reason.owner === null ? "no leader is elected" : `it belongs to ${reason.owner}`;
    case "pool-refused":
      return `pool ${reason.pool}: ${reason.why}`;
    case "pool-unavailable":
      return `the state of pool ${reason.pool} cannot be read or written`;
    case "superseded":
      return "a newer start took its place while it waited";
    case "too-late":
      return `${reason.lateMs / 1000} s late`;
    case "disabled":
    case "removed":
      return reason.kind;
    case "shutting-down":
      return "the daemon is stopping";
  }
}

function missedText(
  { slots: { count, isLeast }, lastSlot, because }: MissedEntry,
  job: Worded,
  inZone: InZone,
): string {
  const many = count === 1 ? "" : `${isLeast ? "at least " : ""}${count} slots up to ${inZone(lastSlot)}; `;
  switch (because) {
    case "onMissed: skip":
      return `${many}the daemon was down; onMissed: skip`;
    case "no state section":
      return `${many}the daemon was down; nothing is caught up without a state section`;
    case "coalesced":
      return `${many}the daemon was down; one run makes up for all (onMissed: run-once)`;
    case "startingDeadlineSeconds":
      return `${many}the daemon was down for longer than startingDeadlineSeconds: ${job?.startingDeadlineSeconds}`;
    case "never ran":
      return `${many}the daemon was down; a job that never ran has nothing to catch up from`;
    case "limit":
      return `${many}the daemon was down; more than one catch-up makes up for`;
    case "not made up for yet":
      return `${many}the daemon was down; not made up for by the end`;
    case "not simulated":
      return `${many}the daemon was down; what a workflow catches up is not simulated`;
  }
}

function daemonText({ what }: DaemonEntry): string {
  switch (what) {
    case "stopped":
      return "SIGTERM; it waits for its runs";
    case "killed":
      return "SIGKILL; its runs go on without it";
    case "gone":
      return "its last run has ended";
    case "starts":
      return "the same store, the same boot";
  }
}

import type { OnMissed } from "../../config/model.ts";
import type { HistoryRow, InterruptedRow } from "../../contract/history.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { isoInstant } from "../instant.ts";
import { PID_START_TOLERANCE_MS } from "../limits.ts";
import type { ClosedRecord, DaemonProcess, InFlightRecord, OpenRecord } from "./inflight-record.ts";

/**
 * The open records of a stream that no later one closes, one per daemon process. Peers' records interleave, so each daemon's pair is
 * matched by itself (INF-5).
 *
 * @param records oldest first
 */
export function openRecords(records: readonly InFlightRecord[]): OpenRecord[] {
  const open = new Map<string, OpenRecord>();
  for (const record of records) {
    if (record.kind === "open") {
      open.delete(keyOf(record)); // it becomes the newest
      open.set(keyOf(record), record);
    } else {
      for (const closed of closedBy(record, [...open.values()])) open.delete(keyOf(closed));
    }
  }
  return [...open.values()];
}

function closedBy(record: ClosedRecord, open: readonly OpenRecord[]): readonly OpenRecord[] {
  const { of } = record;
  if (of !== null) return open.filter((candidate) => keyOf(candidate) === keyOf(of));
  switch (record.reason) {
    case "finished":
      return open.filter((candidate) => keyOf(candidate) === keyOf(record));
    case "reconciled-crash":
      // Other builds name the daemon that reconciled, not the one that had gone: whatever its host had before is settled.
      return open.filter(({ host, proc }) => host === record.host && proc !== record.proc);
    case "reconciled-takeover":
      return open.filter(({ host }) => host !== record.host).slice(-1);
  }
}

function keyOf({ host, proc }: DaemonProcess): string {
  return `${proc}@${host}`;
}

/** What the operating system shows for a recorded pid. A zombie and a process of another user exist (INF-4). */
export type ProcessSight =
  | { readonly kind: "gone" }
  | {
      readonly kind: "exists";
      /** Null when it cannot be told. */
      readonly startedAt: EpochMs | null;
      readonly identity: string | null;
    };

/**
 * Whether the process of an open record of this host is still that run's (INF-4). The identity decides where both sides have it;
 * else the start: a process that started well after the record is another one that got the number. Whatever cannot be told counts as
 * the same process, because a second run of it would be worse than a record that stays open.
 */
export function isSameProcess(record: OpenRecord, sight: ProcessSight): boolean {
  if (sight.kind === "gone") return false;
  if (record.pidIdentity !== null && sight.identity !== null) return record.pidIdentity === sight.identity;
  return sight.startedAt === null || sight.startedAt <= record.startedAt + PID_START_TOLERANCE_MS;
}

/**
 * Whether a row of the ledger is that of an open record's run. Where a row or the record does not name the run, the start decides; a
 * clock that was set back, or another host, may have had a run that started in the same instant.
 */
export function isRowOf(row: HistoryRow, record: OpenRecord): boolean {
  switch (row.kind) {
    case "skipped":
      return false;
    case "interrupted":
      return row.failReason === interruptedRow(record, "skip").failReason; // it names start and host
    case "ran":
      return row.runId === null || record.runId === null
        ? row.startedAt === record.startedAt
        : row.runId === record.runId;
  }
}

/** The ledger row of a run whose completion nobody recorded (INF-7 to INF-9). It never asserts a crash. */
export function interruptedRow(record: OpenRecord, onMissed: OnMissed): InterruptedRow {
  const startedAt = isoInstant(record.startedAt);
  return {
    kind: "interrupted",
    interruptedAt: record.startedAt,
    owed: onMissed !== "skip",
    failReason: `run interrupted: no completion was recorded for the run started at ${startedAt} on ${record.host}. The server may have stopped or lost access to saved state before completion`,
  };
}

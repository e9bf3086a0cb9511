import { setImmediate } from "node:timers/promises";
import type { HistoryRow } from "../../contract/history.ts";
import type { EpochMs } from "../../platform/clock.ts";
import type { Outcome, StoredRecord } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { readInstant } from "../instant.ts";
import {
  DECODE_SLICE_ROWS,
  DEEP_SEARCH_ROWS,
  OPERATION_DEADLINE_MS,
  VERDICT_ROWS,
  VERDICT_ROWS_DEEP,
  WARMED_ROWS,
} from "../limits.ts";
import { jobStreams, ledgerKeep } from "../streams.ts";
import type { WriteQueue, Written } from "../write-queue.ts";
import {
  belongsBefore,
  isVerdict,
  latestCompletionAt,
  latestDealtWithAt,
  latestVerdict,
  type VerdictRow,
} from "./latest.rules.ts";
import { runRecord } from "./run-record.ts";

/** The durable history of every job (RUN-1): what catch-up, `onlyIfLastSucceeded`, retries and trends look at. */
export interface Ledger {
  /**
   * Appends a row (WRT-1).
   *
   * @param after what the row, and with it the job's later ones, waits for
   * @returns what became of it; most callers do not look
   */
  record(job: string, row: HistoryRow, after?: Promise<void> | null): Promise<Written>;
  /** The newest rows by place in the stream, oldest first. Rows that stand at no instant are left out (REH-3). */
  newest(job: string, limit: number): Promise<Outcome<readonly HistoryRow[]>>;
  /** How deep a search goes that the newest rows did not answer. */
  readonly deepRows: number;
  /**
   * When the last slot of the job was dealt with: it ran, or it was skipped on purpose (WM-1).
   *
   * @param upTo runs that served a later slot do not count; by default all do
   */
  lastRunAt(job: string, upTo?: EpochMs): Promise<Outcome<EpochMs | null>>;
  /** When a run of the job last ended, on any node (WM-2). Null when none is on record. */
  lastCompletedAt(job: string, upTo?: EpochMs): Promise<Outcome<EpochMs | null>>;
  /** The newest success or failure on record, on any node (DEP-7). */
  lastVerdict(job: string): Promise<Outcome<VerdictRow | null>>;
}

export function createLedger(parts: {
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly maxRunsPerJob: () => number;
}): Ledger {
  const { backend, writes, maxRunsPerJob } = parts;

  const list = (job: string, limit: number): Promise<Outcome<readonly StoredRecord[]>> =>
    onBackend(backend, ({ records }) =>
      records.list(jobStreams.runs(job), {
        order: "newest first",
        limit,
        reading: "tolerant",
        deadlineMs: OPERATION_DEADLINE_MS,
      }),
    );

  const newest = async (job: string, limit: number): Promise<Outcome<readonly HistoryRow[]>> => {
    const listed = await list(job, limit);
    return listed.kind === "done" ? { kind: "done", value: await rowsOf(listed.value) } : listed;
  };

  const watermark = async (job: string, field: "finished_at" | "ranAt"): Promise<Outcome<EpochMs | null>> => {
    const found = await onBackend(backend, ({ records }) => records.max(jobStreams.runs(job), field));
    return found.kind === "done" ? { kind: "done", value: readInstant(found.value) } : found;
  };

  /** Completions among the newest rows, for records of builds that did not write `ranAt`. */
  const completionAmong = async (job: string, limit: number): Promise<Outcome<EpochMs | null>> => {
    const rows = await newest(job, limit);
    return rows.kind === "done" ? { kind: "done", value: latestCompletionAt(rows.value) } : rows;
  };

  /** Looks for what stood at `upTo` among the rows, where the watermark has gone beyond. */
  const asOf = async (
    job: string,
    upTo: EpochMs,
    latest: (rows: readonly HistoryRow[]) => EpochMs | null,
  ): Promise<Outcome<EpochMs | null>> => {
    const rows = await newest(job, deepRows());
    return rows.kind === "done" ? done(latest(rows.value.filter((row) => belongsBefore(row, upTo)))) : rows;
  };

  const deepRows = (): number => Math.max(DEEP_SEARCH_ROWS, maxRunsPerJob());

  const lastCompletedAt = async (job: string): Promise<Outcome<EpochMs | null>> => {
    const marked = await watermark(job, "ranAt");
    if (marked.kind !== "done") return marked;
    const recent = await completionAmong(job, WARMED_ROWS);
    if (recent.kind !== "done") return recent;
    const known = later(marked.value, recent.value);
    return known === null ? completionAmong(job, deepRows()) : done(known);
  };

  return {
    record: (job, row, after = null) =>
      writes.add(jobStreams.runs(job), "run-record", job, async () => {
        await after;
        const keep = ledgerKeep(maxRunsPerJob());
        return onBackend(backend, ({ records }) =>
          records.append(jobStreams.runs(job), runRecord.encode(row), keep === undefined ? {} : { keep }),
        );
      }),
    newest,
    get deepRows() {
      return deepRows();
    },
    async lastRunAt(job, upTo = Number.POSITIVE_INFINITY) {
      const marked = await watermark(job, "finished_at");
      return isBeyond(marked, upTo) ? asOf(job, upTo, latestDealtWithAt) : marked;
    },
    async lastCompletedAt(job, upTo = Number.POSITIVE_INFINITY) {
      const known = await lastCompletedAt(job);
      return isBeyond(known, upTo) ? asOf(job, upTo, latestCompletionAt) : known;
    },
    async lastVerdict(job) {
      const listed = await list(job, VERDICT_ROWS);
      if (listed.kind !== "done") return listed;
      const rows = await rowsOf(listed.value);
      if (rows.some(isVerdict) || listed.value.length < VERDICT_ROWS) return done(latestVerdict(rows));
      const deeper = await newest(job, VERDICT_ROWS_DEEP);
      return deeper.kind === "done" ? done(latestVerdict(deeper.value)) : deeper;
    },
  };
}

/** Rows of records that come newest first, oldest first. Others of the event loop get their turn in between. */
async function rowsOf(records: readonly StoredRecord[]): Promise<HistoryRow[]> {
  const rows: HistoryRow[] = [];
  for (const [at, { data }] of records.entries()) {
    const row = runRecord.decode(data);
    if (row.kind === "record") rows.push(row.value);
    if (at % DECODE_SLICE_ROWS === DECODE_SLICE_ROWS - 1) await setImmediate();
  }
  return rows.reverse();
}

function isBeyond(found: Outcome<EpochMs | null>, upTo: EpochMs): boolean {
  return found.kind === "done" && found.value !== null && found.value > upTo;
}

function later(a: EpochMs | null, b: EpochMs | null): EpochMs | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

function done<T>(value: T): Outcome<T> {
  return { kind: "done", value };
}

import type { Clock } from "../../platform/clock.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { MISSED_FLUSH_MS } from "../limits.ts";
import { jobStreams, keep } from "../streams.ts";
import type { WriteQueue } from "../write-queue.ts";
import { type MissedRecord, type MissedSpan, missedRecord } from "./missed-record.ts";
import { isAccountedHere, type MissedSlot, withSlot } from "./missed-spans.rules.ts";

/** Slots that did not run and why, so that "why did it not run?" has an answer after a restart too (DESIGN idea 9). */
export interface MissedSlots {
  /** Gathers it; slots in a row for one reason are written as one record, at most once a minute per job. A crash costs that minute. */
  missed(job: string, slot: MissedSlot): void;
  /** Gives away what is gathered, for a shutdown. */
  flush(): void;
  /** What is on record of a job, of any node, newest first; at most 50 or so are kept. */
  newest(job: string): Promise<Outcome<readonly MissedRecord[]>>;
}

export function createMissedSlots(parts: {
  readonly host: string;
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly clock: Clock;
}): MissedSlots {
  const { host, backend, writes, clock } = parts;
  const gathered = new Map<string, readonly MissedSpan[]>();
  let cancelFlush: (() => void) | null = null;

  const write = (job: string, span: MissedSpan): void => {
    const stream = jobStreams.missed(job);
    const body = missedRecord.encode({ ...span, host, at: clock.wallNow() });
    void writes.add(stream, "run-record", job, () =>
      onBackend(backend, ({ records }) => records.append(stream, body, { keep: keep.missed })),
    );
  };

  const flush = (): void => {
    cancelFlush?.();
    cancelFlush = null;
    for (const [job, spans] of gathered) for (const span of spans) write(job, span);
    gathered.clear();
  };

  return {
    missed(job, slot) {
      if (!isAccountedHere(slot.reason)) return;
      gathered.set(job, withSlot(gathered.get(job) ?? [], slot));
      cancelFlush ??= clock.after(MISSED_FLUSH_MS, flush);
    },
    flush,
    async newest(job) {
      const listed = await onBackend(backend, ({ records }) =>
        records.list(jobStreams.missed(job), { order: "newest first", limit: keep.missed, reading: "tolerant" }),
      );
      if (listed.kind !== "done") return listed;
      const found = listed.value.flatMap(({ data }) => {
        const record = missedRecord.decode(data);
        return record.kind === "record" ? [record.value] : [];
      });
      return { kind: "done", value: found };
    },
  };
}

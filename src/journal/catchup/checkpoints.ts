import type { Clock, EpochMs } from "../../platform/clock.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { keep } from "../streams.ts";
import type { WriteQueue } from "../write-queue.ts";
import { type Checkpoint, checkpointRecord } from "./checkpoint-record.ts";

/** Cycles of catch-up as they stand in the store, by stream: jobs and DAGs have their own (CAT-6, CAT-9). */
export interface Checkpoints {
  /** The cycle that is still open, null when none is. */
  open(stream: string): Promise<Outcome<Checkpoint | null>>;
  /** Writes one and answers whether it landed; a lost one is counted. */
  write(stream: string, kind: Checkpoint["kind"], watermark: EpochMs | null): Promise<boolean>;
}

export function createCheckpoints(parts: {
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly clock: Clock;
}): Checkpoints {
  const { backend, writes, clock } = parts;
  return {
    async open(stream) {
      const listed = await onBackend(backend, ({ records }) =>
        records.list(stream, { order: "newest first", limit: 1, reading: "tolerant" }),
      );
      if (listed.kind !== "done") return listed;
      const [newest] = listed.value;
      const found = newest === undefined ? null : checkpointRecord.decode(newest.data);
      const isOpen = found?.kind === "record" && found.value.kind === "open";
      return { kind: "done", value: isOpen ? found.value : null };
    },
    async write(stream, kind, watermark) {
      const body = checkpointRecord.encode({ kind, at: clock.wallNow(), watermark });
      const written = await writes.add(stream, "checkpoint", stream, () =>
        onBackend(backend, ({ records }) => records.append(stream, body, { keep: keep.catchup })),
      );
      return written.kind === "done";
    },
  };
}

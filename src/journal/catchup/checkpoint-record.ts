import { z } from "zod";
import type { EpochMs } from "../../platform/clock.ts";
import { isoInstant } from "../instant.ts";
import { optionalInstant, type RecordCodec, recordCodec } from "../record-codec.ts";

/** `catchup/<job>` and `catchup-dag/<dag>`: an open one on top is a cycle that has not come to its end (state 8). */
export interface Checkpoint {
  readonly kind: "open" | "close";
  readonly at: EpochMs;
  /** From where the cycle counts; null when nothing was known. */
  readonly watermark: EpochMs | null;
}

const shape = z.object({
  kind: z.enum(["open", "close"]),
  at: optionalInstant,
  // An empty text is how a missing watermark is written.
  watermark: optionalInstant,
});

export const checkpointRecord: RecordCodec<Checkpoint> = recordCodec({
  shape,
  write: ({ kind, at, watermark }) => ({
    kind,
    at: isoInstant(at),
    watermark: watermark === null ? "" : isoInstant(watermark),
  }),
  read: ({ kind, at, watermark }) => ({ kind, at: at ?? 0, watermark }),
});

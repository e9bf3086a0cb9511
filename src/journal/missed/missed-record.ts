import { z } from "zod";
import type { NotRunReason } from "../../contract/reason.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { isoInstant } from "../instant.ts";
import { instantField, type RecordCodec, recordCodec } from "../record-codec.ts";
import { reasonBody, reasonField } from "./reason-field.ts";

/** Slots in a row that did not run for one reason. */
export interface MissedSpan {
  readonly from: EpochMs;
  /** The last of them. Of a gap that was not walked, the end of it, exclusive. */
  readonly to: EpochMs;
  /** Null for a gap that was not walked: all slots from `from` on, before `to`. */
  readonly count: number | null;
  readonly reason: NotRunReason;
}

/** `missed/<job>`: ours, and passed over by other builds (DESIGN idea 9). */
export interface MissedRecord extends MissedSpan {
  readonly host: string;
  readonly at: EpochMs;
}

const shape = z.object({
  at: instantField,
  host: z.string(),
  from: instantField,
  to: instantField,
  count: z.int().nullable(),
  reason: reasonField,
});

export const missedRecord: RecordCodec<MissedRecord> = recordCodec({
  shape,
  write: ({ at, host, from, to, count, reason }) => ({
    at: isoInstant(at),
    host,
    from: isoInstant(from),
    to: isoInstant(to),
    count,
    reason: reasonBody(reason),
  }),
  read: (record) => record,
});

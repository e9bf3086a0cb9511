import { z } from "zod";
import type { JobPause, PauseChannel } from "../../contract/pause.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { isoInstant } from "../instant.ts";
import { optionalInstant, optionalText, portableText, type RecordCodec, recordCodec } from "../record-codec.ts";

/** `paused/<job>`: the newest record decides; whether it is over is for the reader to judge (state 6.4). */
export type PauseRecord = PausedRecord | ResumedRecord;

export interface PausedRecord extends Omit<JobPause, "since"> {
  readonly kind: "paused";
  /** Null in records that do not tell: since ever. */
  readonly since: EpochMs | null;
  /** Who wrote it down; every node honours it. */
  readonly host: string;
  readonly at: EpochMs;
}

export interface ResumedRecord {
  readonly kind: "resumed";
  readonly by: string;
  readonly channel: PauseChannel;
  readonly host: string;
  readonly at: EpochMs;
}

const shape = z.object({
  kind: z.enum(["paused", "resumed"]),
  since: optionalInstant,
  until: optionalInstant,
  note: z.string().catch(""),
  by: optionalText,
  channel: z.enum(["api", "mcp", "cli"]).catch("api"),
  host: optionalText,
  at: optionalInstant,
});

export const pauseRecord: RecordCodec<PauseRecord> = recordCodec({
  shape,
  write(record) {
    const { kind, channel, host, at } = record;
    const common = { kind, by: portableText(record.by), channel, host, at: isoInstant(at) };
    if (record.kind === "resumed") return common;
    const { since, until, note } = record;
    const window = { since: since === null ? null : isoInstant(since), until: isoInstant(until) };
    return { ...common, ...window, note: portableText(note) };
  },
  read(fields) {
    const { kind, since, until, note, channel } = fields;
    const common = { channel, by: fields.by ?? "", host: fields.host ?? "", at: fields.at ?? 0 };
    if (kind === "resumed") return { kind, ...common };
    return until === null ? null : { kind, since, until, note, ...common };
  },
});

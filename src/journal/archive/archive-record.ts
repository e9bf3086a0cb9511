import { z } from "zod";
import type { RanRow } from "../../contract/history.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { isoInstant } from "../instant.ts";
import { instantField, optionalInteger, portableText, type RecordCodec, recordCodec } from "../record-codec.ts";
import type { OutputText } from "./redaction.rules.ts";

/** `logs/<job>`: what a finished run printed (ARC-3). */
export interface ArchivedOutput {
  readonly outcome: RanRow["outcome"];
  readonly exitCode: number | null;
  readonly finishedAt: EpochMs;
  /** In the order they arrived, both streams together. */
  readonly lines: readonly OutputText[];
  /** Lines that came before and are not kept. */
  readonly droppedLines: number;
  readonly redacted: boolean;
}

const shape = z.object({
  outcome: z.enum(["success", "failure", "cancelled", "unknown"]).catch("unknown"),
  exit_code: optionalInteger,
  finished_at: instantField,
  lines: z.array(z.object({ line: z.string(), stream: z.enum(["stdout", "stderr"]) })),
  dropped_lines: z.int().catch(0),
  redacted: z.boolean().catch(false),
});

export const archiveRecord: RecordCodec<ArchivedOutput> = recordCodec({
  shape,
  write: ({ outcome, exitCode, finishedAt, lines, droppedLines, redacted }) => ({
    outcome,
    exit_code: exitCode,
    finished_at: isoInstant(finishedAt),
    lines: lines.map(({ stream, line }) => ({ stream, line: `${portableText(line)}\n` })),
    dropped_lines: droppedLines,
    redacted,
  }),
  read: (wire) => ({
    outcome: wire.outcome,
    exitCode: wire.exit_code,
    finishedAt: wire.finished_at,
    lines: wire.lines.map(({ stream, line }) => ({ stream, line: line.replace(/\n$/, "") })),
    droppedLines: wire.dropped_lines,
    redacted: wire.redacted,
  }),
});

import { z } from "zod";
import type { NotRunReason } from "../../contract/reason.ts";
import type { JsonObject } from "../../store/json.ts";
import { jsonFloat } from "../../store/json.ts";
import { isoInstant } from "../instant.ts";
import { instantField, portableText } from "../record-codec.ts";

/** Why a slot did not run, as records carry it; a kind this build does not know makes the record damaged. */
export const reasonField: z.ZodType<NotRunReason> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("paused"), until: instantField, note: z.string() }),
  z.object({ kind: z.literal("last-run-failed") }),
  z.object({ kind: z.literal("forbidden"), running: z.int() }),
  z.object({ kind: z.literal("slot-held"), holder: z.string() }),
  z.object({ kind: z.literal("store-unavailable"), what: z.string() }),
  z.object({ kind: z.literal("not-owner"), owner: z.string().nullable() }),
  z.object({ kind: z.literal("pool-refused"), pool: z.string(), why: z.string() }),
  z.object({ kind: z.literal("pool-unavailable"), pool: z.string() }),
  z.object({ kind: z.literal("superseded") }),
  z.object({ kind: z.literal("too-late"), lateMs: z.number() }),
  z.object({ kind: z.literal("disabled") }),
  z.object({ kind: z.literal("removed") }),
  z.object({ kind: z.literal("shutting-down") }),
]);

export function reasonBody(reason: NotRunReason): JsonObject {
  switch (reason.kind) {
    case "paused":
      return { kind: reason.kind, until: isoInstant(reason.until), note: portableText(reason.note) };
    case "too-late":
      return { kind: reason.kind, lateMs: jsonFloat(reason.lateMs) };
    default:
      return { ...reason };
  }
}

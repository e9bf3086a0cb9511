import { z } from "zod";
import type { Trigger } from "../../contract/run.ts";
import type { JsonObject } from "../../store/json.ts";
import { isoInstant } from "../instant.ts";
import { instantField, orNull } from "../record-codec.ts";

/** What started a run, as records of ours carry it; null in records of builds that do not, and for a kind this one does not know. */
export const triggerField: z.ZodType<Trigger | null> = orNull(
  z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("schedule"), slot: instantField }),
    z.object({ kind: z.literal("boot") }),
    z.object({ kind: z.literal("retry"), attempt: z.int() }),
    z.object({ kind: z.literal("catch-up"), slot: instantField }),
    z.object({ kind: z.literal("manual"), by: z.string().nullable() }),
    z.object({ kind: z.literal("dag"), dag: z.string(), runKey: z.string(), taskKey: z.string() }),
  ]),
);

export function triggerBody(trigger: Trigger): JsonObject {
  return "slot" in trigger ? { kind: trigger.kind, slot: isoInstant(trigger.slot) } : { ...trigger };
}

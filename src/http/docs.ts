import type { z } from "zod";
import { errorShape } from "../contract/wire/error.ts";
import type { AnswerDoc, QueryDoc } from "./call.ts";

export function jsonDoc(about: string, shape: z.ZodType): AnswerDoc {
  return { about, content: { "application/json": shape } };
}

export function textDoc(about: string, type = "text/plain"): AnswerDoc {
  return { about, content: { [type]: "text" } };
}

export function errorDoc(about: string): AnswerDoc {
  return jsonDoc(about, errorShape);
}

export const noSuchJob = errorDoc("There is no such job.");

/** A number of rows, never an error: what is no number is the default, what is out of bounds the bound. */
export function countDoc(about: string, bounds: { otherwise: number; min: number; max: number }): QueryDoc {
  return { type: "integer", about, minimum: bounds.min, maximum: bounds.max, default: bounds.otherwise };
}

export const zoneDoc: QueryDoc = { type: "string", about: "Time zone, e.g. Europe/Berlin; UTC when left out." };

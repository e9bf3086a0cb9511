/** Lists and mappings of the configuration, with the phrases of section 2 for what else stands there. */
import { z } from "zod";
import { found } from "./scalars.ts";

export function listOf<T extends z.ZodType>(item: T): z.ZodArray<T> {
  return z.array(item, { error: ({ input }) => `when expecting a sequence, ${found(input)}` });
}

/** A mapping with these keys and no others. */
export function mapOf<Shape extends z.ZodRawShape>(keys: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(keys, {
    error: ({ code, input }) => (code === "invalid_type" ? `when expecting a mapping, ${found(input)}` : undefined),
  });
}

/** A mapping whose keys are free. */
export function tableOf<T extends z.ZodType>(value: T): z.ZodRecord<z.ZodString, T> {
  return z.record(z.string(), value, { error: ({ input }) => `when expecting a mapping, ${found(input)}` });
}

/** What an absent mapping counts as: its keys' own defaults, and `required` for the keys a written one must carry. */
export function orAbsent<Shape extends z.ZodRawShape>(
  map: z.ZodObject<Shape, z.core.$strict>,
  required: Partial<z.output<z.ZodObject<Shape>>> = {},
): z.ZodDefault<z.ZodObject<Shape, z.core.$strict>> {
  const defaults = { ...defaultsOf(map.shape), ...required } as z.output<z.ZodObject<Shape, z.core.$strict>>;
  return map.default(defaults as never);
}

function defaultsOf(keys: z.core.$ZodShape): Record<string, unknown> {
  const defaults: Record<string, unknown> = {};
  for (const [key, type] of Object.entries(keys)) {
    if (type instanceof z.ZodDefault) defaults[key] = type.def.defaultValue;
  }
  return defaults;
}

/**
 * A check of a value that its type has read. `phrase` names the key and the range, as section 6 and 7 quote them; such a problem is
 * told under its DAG and task where it has one.
 */
export function within<T extends z.ZodType>(type: T, test: (value: z.output<T>) => boolean, phrase: string): T {
  return type.refine(test, { error: phrase, params: { range: true } });
}

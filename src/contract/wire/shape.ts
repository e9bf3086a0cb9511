import { z } from "zod";

/** The shapes that have a name in `openapi.json`. */
export const namedShapes = z.registry<{ readonly id: string }>();

/** Gives a shape its name in `openapi.json`. */
export function named<S extends z.ZodType>(id: string, shape: S): S {
  namedShapes.add(shape, { id });
  return shape;
}

/** What a shape's values look like to whoever is handed one. */
export type Wire<S extends z.ZodType> = DeepReadonly<z.infer<S>>;

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? number extends T["length"]
    ? readonly DeepReadonly<Item>[]
    : { readonly [Index in keyof T]: DeepReadonly<T[Index]> }
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** One of these today; a newer daemon may send another word, and a client must live with it. */
export function openEnum<const Values extends readonly string[]>(values: Values) {
  type Word = Values[number] | (string & Record<never, never>);
  return z.union([z.enum(values), z.string()]) as z.ZodType<Word>;
}

/** ISO-8601 in UTC, spelled `+00:00`; microseconds unless zero. */
export const instant = z.string().meta({ format: "date-time" });

/** Seconds since 1970, as documents carry instants. */
export const epochSeconds = z.number();

/** Whatever JSON; documents that other rooms define are passed on as they are. */
export const anyObject = z.record(z.string(), z.unknown());

/** What a file says about a key, before any default: a default must not hide that nobody wrote the key (config 4). */
import { z } from "zod";
import { mapOf } from "./collections.ts";

/** Every key may be absent, at every level of mappings. */
export type Written<T> = { readonly [K in keyof T]?: WrittenValue<T[K]> };
type WrittenValue<V> = V extends string | number | boolean | null | undefined | readonly unknown[] ? V : Written<V>;

/** The same keys and types without their defaults. Keys that are required within their mapping stay required. */
export function writtenKeys(keys: z.core.$ZodShape): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(keys).map(([key, type]) => [key, written(type)]));
}

function written(type: z.core.$ZodType): z.ZodType {
  if (type instanceof z.ZodDefault || type instanceof z.ZodOptional) return written(type.unwrap()).optional();
  if (type instanceof z.ZodObject) return checked(mapOf(writtenKeys(type.shape)), type);
  if (type instanceof z.ZodUnion) return checked(z.union(type.options.map(written)), type);
  if (type instanceof z.ZodType) return type;
  throw new TypeError("only classic schemas describe options");
}

/** The rebuilt type with the checks of the one it was built from. */
function checked<T extends z.ZodType>(rebuilt: T, { def: { checks } }: z.ZodType): T {
  return checks === undefined ? rebuilt : rebuilt.clone({ ...rebuilt.def, checks });
}

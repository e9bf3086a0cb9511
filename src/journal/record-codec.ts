import { z } from "zod";
import type { EpochMs } from "../platform/clock.ts";
import { type JsonObject, plainJson } from "../store/json.ts";
import { isoInstant, readInstant } from "./instant.ts";

/** What the body of a record can turn out to be. The store has judged its envelope already (QUA-2). */
export type Decoded<T> =
  | { readonly kind: "record"; readonly value: T }
  | { readonly kind: "damaged"; readonly reason: string };

/** One kind of record, checked on both sides of the store. */
export interface RecordCodec<T> {
  /** @throws ZodError when the record breaks its own shape: our bug */
  encode(value: T): JsonObject;
  /** Fields this build does not know are passed over (FMT-7). */
  decode(data: JsonObject): Decoded<T>;
}

/**
 * A record kind from its shape on disk. `write` gives the body with every number of the type it has there (whole or float); `read`
 * gives what it means, or null where the fields fit and still mean nothing.
 */
export function recordCodec<W, T>(kind: {
  readonly shape: z.ZodType<W>;
  readonly write: (value: T) => JsonObject;
  readonly read: (wire: W) => T | null;
}): RecordCodec<T> {
  return {
    encode(value) {
      const body = kind.write(value);
      kind.shape.parse(plainJson(body));
      return body;
    },
    decode(data) {
      const wire = kind.shape.safeParse(plainJson(data));
      if (!wire.success) return { kind: "damaged", reason: z.prettifyError(wire.error) };
      const value = kind.read(wire.data);
      return value === null ? { kind: "damaged", reason: "its fields mean nothing" } : { kind: "record", value };
    },
  };
}

/** An instant that must be there. */
export const instantField = z.string().transform((text, context): EpochMs => {
  const at = readInstant(text);
  if (at !== null) return at;
  context.addIssue({ code: "custom", message: `${JSON.stringify(text)} is no instant` });
  return z.NEVER;
});

/** A field that may be absent, and that other builds may write differently: then it is null, and takes nothing else away. */
export function orNull<T>(field: z.ZodType<T>) {
  // Absence is the common case, and what is caught is dear: the default goes first.
  return field.nullable().default(null).catch(null);
}

/** An instant or nothing; what is no instant counts as absent (FMT-6). */
export const optionalInstant = orNull(z.string()).transform(readInstant);

/** A text or nothing. */
export const optionalText = orNull(z.string());

/** A whole number or nothing. */
export const optionalInteger = orNull(z.int());

/** A number or nothing. */
export const optionalNumber = orNull(z.number());

export function isoOrNull(at: EpochMs | null): string | null {
  return at === null ? null : isoInstant(at);
}

/**
 * A text of people or programs as a record may carry it: half a surrogate pair would make the whole record unwritable (FMT-5), so it
 * becomes the replacement character.
 */
export function portableText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

export function portableOrNull(text: string | null): string | null {
  return text === null ? null : portableText(text);
}

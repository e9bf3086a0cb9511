/**
 * The types a key can have (config 2.1). In YAML every scalar is text; the key's type reads it. Each type is a Zod schema from that
 * text to its value, and carries the JSON Schema an editor needs, which sees YAML's own numbers and booleans.
 */
import { z } from "zod";
import { quoted } from "../../schedule/schedule-error.ts";
import { shownCharactersMax } from "../limits.ts";
import { nearest } from "../nearest.ts";

type JsonForm = z.core.JSONSchema.BaseSchema;

/** What stands where something else was expected, in the words of section 2. */
export function found(value: unknown): string {
  if (Array.isArray(value)) return "found a sequence";
  if (typeof value !== "string") return "found a mapping";
  if (value === "") return "found a blank string";
  const kind = readFloat(value) === undefined ? "arbitrary text" : "an arbitrary number";
  return `found ${kind} ${shown(value)}`;
}

/** A value as messages show it: in quotes, escaped, cut. */
export function shown(value: string): string {
  return quoted(value.length > shownCharactersMax ? `${value.slice(0, shownCharactersMax)}…` : value);
}

/** Reads a scalar; `undefined` = refused. */
type Read<T> = (text: string) => T | undefined;

function scalar<T>(expecting: string, read: Read<T>, form: JsonForm): z.ZodType<T, string> {
  return z
    .string({ error: ({ input }) => `when expecting ${expecting}, ${found(input)}` })
    .transform((text, context) => {
      const value = read(text);
      if (value !== undefined) return value;
      context.addIssue({ code: "custom", message: `when expecting ${expecting}, ${found(text)}` });
      return z.NEVER;
    })
    .meta(form);
}

/** Any scalar, exactly as written. */
export const text = z
  .string({ error: ({ input }) => `when expecting text, ${found(input)}` })
  .meta({ type: ["string", "number", "boolean"] });

/** Text; a key with nothing after it means "none". */
export const textOrNone = scalar("text", (written) => (written === "" ? null : written), {
  type: ["string", "number", "boolean", "null"],
});

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...["yes", "true", "on", "1", "y"].map((word) => [word, true] as const),
  ...["no", "false", "off", "0", "n"].map((word) => [word, false] as const),
]);
const booleanWords = [...booleans.keys()].map((word) => `"${word}"`).join(", ");

export const bool = scalar(
  `a boolean value (one of ${booleanWords})`,
  (written) => booleans.get(written.toLowerCase()),
  {
    anyOf: [{ type: "boolean" }, { enum: [...booleans.keys(), 0, 1] }],
  },
);

function readInteger(written: string): number | undefined {
  if (!/^[+-]?_*[0-9][0-9_]*$/.test(written)) return undefined;
  return Number(written.replaceAll("_", "")) + 0; // -0 is 0
}

function readFloat(written: string): number | undefined {
  if (/^[+-]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:e[+-]?[0-9]+)?$/i.test(written))
    return Number(written.replaceAll("_", "")) + 0;
  if (/^[+-]?\.?inf$/i.test(written))
    return written.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return /^\.?nan$/i.test(written) ? Number.NaN : undefined;
}

const integerForm: JsonForm = { anyOf: [{ type: "integer" }, { type: "string", pattern: "^[+-]?[0-9_]+$" }] };
const numberForm: JsonForm = { anyOf: [{ type: "number" }, { type: "string", pattern: "^[+-]?[.0-9a-zA-Z_+-]+$" }] };

export const integer = scalar("an integer", readInteger, integerForm);
export const float = scalar("a float", readFloat, numberForm);

/** A blank key, `null` or `~` mean "unset" on keys that are not free text (config 2.1). */
function isNone(written: string): boolean {
  return written === "" || written === "null" || written === "~";
}

export const integerOrNone = scalar("an integer", (written) => (isNone(written) ? null : readInteger(written)), {
  anyOf: [{ type: "integer" }, { type: "string", pattern: "^[+-]?[0-9_]*$" }, { type: "null" }],
});

/** Stands for "none" where a mapping could stand too. */
export const none = scalar("a mapping", (written) => (isNone(written) ? null : undefined), {
  anyOf: [{ type: "null" }, { enum: ["", "null", "~"] }],
});

/** A key with nothing after it where a mapping could stand: what it stands for. */
export function blankAs<T>(value: T): z.ZodType<T, string> {
  return scalar("a mapping", (written) => (written === "" ? value : undefined), {
    anyOf: [{ type: "null" }, { enum: [""] }],
  });
}

/** A number id, or a name; what reads as an integer is the id. */
export const integerOrText = scalar("an integer or text", (written) => readInteger(written) ?? written, {
  type: ["integer", "string"],
});

/** One of a few words, exactly as spelled. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  ...words: Words
): z.ZodType<Words[number], string> {
  const expecting = `when expecting one of: ${words.join(", ")}`;
  return z.enum(words, {
    error: ({ input }) => {
      if (typeof input !== "string" || input === "") return `${expecting}; ${found(input)}`;
      const meant = nearest(input, words);
      return `${expecting}; found ${shown(input)}${meant === null ? "" : `, did you mean ${quoted(meant)}?`}`;
    },
  });
}

import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../data/http-samples");

export interface SampleRequest {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
}

export function sampleText(name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

export function sample(name: string): unknown {
  return JSON.parse(sampleText(name));
}

/** How each sample was asked for. */
export function sampleIndex(): Readonly<Record<string, SampleRequest>> {
  return JSON.parse(sampleText("_index.json")) as Record<string, SampleRequest>;
}

/**
 * What of `expected`'s structure `actual` lacks: paths of members that are missing or of another type. Members beyond it are allowed; so is
 * null on either side, which stands for "not now". Arrays are compared item by
 * item when they are of one length, else by the first item.
 */
export function missing(expected: unknown, actual: unknown, at = "$"): string[] {
  if (expected === null || actual === null) return [];
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${at}: an array`];
    const ofIndex = (index: number): unknown => (expected.length === actual.length ? expected[index] : expected[0]);
    return expected.length === 0
      ? []
      : actual.flatMap((item, index) => missing(ofIndex(index), item, `${at}[${index}]`));
  }
  if (typeof expected === "object") {
    if (typeof actual !== "object" || Array.isArray(actual)) return [`${at}: an object`];
    const own = actual as Readonly<Record<string, unknown>>;
    return Object.entries(expected).flatMap(([key, value]) =>
      key in own ? missing(value, own[key], `${at}.${key}`) : [`${at}.${key}: missing`],
    );
  }
  return typeof expected === typeof actual ? [] : [`${at}: ${typeof expected}, is ${typeof actual}`];
}

/** Names of an object's members, in order. */
export function keysOf(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

import { Float, TemplateError } from "./value.ts";

/** One word of an expression. `value` is set for literals. */
export interface Token {
  readonly kind: "name" | "string" | "number" | "operator";
  readonly text: string;
  readonly value: string | number | Float | null;
  readonly line: number;
}

/** A template cut at its tags. Whitespace control is applied, comments are gone, raw blocks are text. */
export type Segment =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "output" | "tag"; readonly tokens: readonly Token[]; readonly line: number };

const OPENING = /\{([{%#])([-+]?)/g;
const RAW = /\s*raw\s*(-?)%\}/y;
const END_RAW = /\{%([-+]?)\s*endraw\s*(-?)%\}/g;

const SPACE = /\s+/y;
const NAME = /[\p{ID_Start}_]\p{ID_Continue}*/uy;
const NUMBER = /\d+(?:_\d+)*(\.\d+(?:_\d+)*)?(?:[eE][-+]?\d+)?/y;
const STRING = /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/y;
const OPERATOR = /\*\*|\/\/|==|!=|<=|>=|[-+*/%~[\](){}<>=.:|,]/y;

const CLOSING_BRACKET = new Map([
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
]);

/**
 * Cuts a template into text, outputs and tags (running 11.1). Line breaks become `\n` and one of them at the very end is dropped.
 *
 * @throws TemplateError at an unclosed tag, comment, bracket or string
 */
export function segments(source: string): Segment[] {
  const text = source.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  const found: Segment[] = [];
  const lines = lineCounter(text);
  let at = 0;
  let trimNext = false;

  const addText = (end: number, trimEnd: boolean): void => {
    let piece = text.slice(at, end);
    if (trimNext) piece = piece.trimStart();
    if (trimEnd) piece = piece.trimEnd();
    if (piece !== "") found.push({ kind: "text", text: piece });
    trimNext = false;
  };

  for (;;) {
    OPENING.lastIndex = at;
    const opening = OPENING.exec(text);
    if (opening === null) break;
    const line = lines(opening.index);
    addText(opening.index, opening[2] === "-");
    at = OPENING.lastIndex;
    if (opening[1] === "#") {
      const end = text.indexOf("#}", at);
      if (end === -1) throw problem("the comment is never closed with #}", line);
      trimNext = text[end - 1] === "-";
      at = end + 2;
      continue;
    }
    RAW.lastIndex = at;
    const raw = opening[1] === "%" ? RAW.exec(text) : null;
    if (raw !== null) {
      END_RAW.lastIndex = RAW.lastIndex;
      const end = END_RAW.exec(text);
      if (end === null) throw problem("the raw block is never closed with {% endraw %}", line);
      at = RAW.lastIndex;
      trimNext = raw[1] === "-";
      addText(end.index, end[1] === "-");
      trimNext = end[2] === "-";
      at = END_RAW.lastIndex;
      continue;
    }
    const close = opening[1] === "{" ? "}}" : "%}";
    const code = codeUntil(text, at, close, lines);
    found.push({ kind: opening[1] === "{" ? "output" : "tag", tokens: code.tokens, line });
    trimNext = code.trimNext;
    at = code.end;
  }
  addText(text.length, false);
  return found;
}

interface Code {
  readonly tokens: readonly Token[];
  readonly end: number;
  readonly trimNext: boolean;
}

/** Reads tokens up to `close`. Inside brackets it is no end: `{{ {"a": {"b": 1}} }}`. */
function codeUntil(text: string, start: number, close: string, lines: (at: number) => number): Code {
  const tokens: Token[] = [];
  const open: string[] = [];
  const startLine = lines(start);
  let at = start;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return null;
    at = pattern.lastIndex;
    return match[0];
  };
  for (;;) {
    take(SPACE);
    if (at >= text.length) throw problem(`the tag is never closed with ${close}`, startLine);
    if (open.length === 0) {
      if (text.startsWith(close, at)) return { tokens, end: at + 2, trimNext: false };
      const sign = text[at];
      if ((sign === "-" || sign === "+") && text.startsWith(close, at + 1))
        return { tokens, end: at + 3, trimNext: sign === "-" };
    }
    const line = lines(at);
    const name = take(NAME);
    if (name !== null) {
      tokens.push({ kind: "name", text: name, value: null, line });
      continue;
    }
    const number = take(NUMBER);
    if (number !== null) {
      tokens.push({ kind: "number", text: number, value: numberValue(number), line });
      continue;
    }
    const string = take(STRING);
    if (string !== null) {
      tokens.push({ kind: "string", text: string, value: unescaped(string.slice(1, -1)), line });
      continue;
    }
    const operator = take(OPERATOR);
    if (operator === null) {
      const what = /["']/.test(text[at] ?? "") ? "a text that is never closed" : `"${text[at]}"`;
      throw problem(`unexpected ${what}`, line);
    }
    const closing = CLOSING_BRACKET.get(operator);
    if (closing !== undefined) open.push(closing);
    else if (")]}".includes(operator) && open.pop() !== operator) throw problem(`unexpected "${operator}"`, line);
    tokens.push({ kind: "operator", text: operator, value: null, line });
  }
}

function numberValue(text: string): number | Float {
  const value = Number(text.replaceAll("_", ""));
  return /[.eE]/.test(text) ? new Float(value) : value;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "\n": "",
};

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g,
    (whole, x?: string, u?: string, long?: string, octal?: string, single?: string) => {
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      const code = Number.parseInt(x ?? u ?? long ?? "", 16);
      if (code <= 0x10ffff) return String.fromCodePoint(code);
      return ESCAPES[single ?? ""] ?? whole;
    },
  );
}

/** Line of an offset, asked in ascending order. */
function lineCounter(text: string): (at: number) => number {
  let line = 1;
  let counted = 0;
  return (at) => {
    for (let next = text.indexOf("\n", counted); next !== -1 && next < at; next = text.indexOf("\n", counted)) {
      line++;
      counted = next + 1;
    }
    return line;
  };
}

function problem(message: string, line: number): TemplateError {
  const error = new TemplateError(message);
  error.line = line;
  return error;
}

import { pieceCharacters, piecedFileCharactersMin } from "../limits.ts";

/**
 * Where a long list of jobs may be cut so that each part can be parsed alone.
 *
 * The tree of 100,000 jobs takes 900 MB, the jobs themselves a tenth of that, so a block list under a top-level `jobs:` is parsed
 * some items at a time. Cuts are made only before lines that, in a valid file, must start an item: a `-` at the list's own
 * indentation. Nothing that began earlier can reach over such a line, because everything inside an item is indented deeper than it.
 * In an invalid file, or where an alias points out of its part, some part fails to parse; the caller then takes the file as a whole.
 */
export interface Pieces {
  /** The file without the list. */
  readonly frame: string;
  /** Where an offset of the frame is in the file. */
  readonly offsetInFile: (offset: number) => number;
  /** Offset of the key `jobs`. */
  readonly keyAt: number;
  /** Parts of the list in order, together all of it. */
  readonly parts: readonly { readonly start: number; readonly end: number }[];
}

/** Null where there is no such list, or the file is short. */
export function piecesOf(text: string): Pieces | null {
  if (text.length < piecedFileCharactersMin) return null;
  const header = /^jobs:[ \t]*(?:#.*)?\r?\n/m.exec(text);
  if (header === null) return null;
  const from = header.index + header[0].length;
  const list = listFrom(text, from);
  if (list === null) return null;
  const [first] = list.cuts;
  if (first === undefined) return null;
  return {
    frame: text.slice(0, from) + text.slice(list.end),
    offsetInFile: (offset) => (offset < from ? offset : offset + list.end - from),
    keyAt: header.index,
    parts: list.cuts.map((start, index) => ({ start, end: list.cuts[index + 1] ?? list.end })),
  };
}

/** The list's end and the offsets of the item lines at which its parts start. */
function listFrom(text: string, from: number): { readonly cuts: readonly number[]; readonly end: number } | null {
  const cuts: number[] = [];
  let indent: number | null = null;
  let line = from;
  while (line < text.length) {
    const newline = text.indexOf("\n", line);
    const next = newline === -1 ? text.length : newline + 1;
    const content = contentOf(text, line, next);
    if (content !== null) {
      const isItem = text[content] === "-" && /[ \t\r\n]/.test(text[content + 1] ?? "\n");
      indent ??= isItem ? content - line : null;
      if (indent === null) return null;
      if (content - line < indent || (content - line === indent && !isItem)) break;
      if (content - line === indent && line - (cuts.at(-1) ?? Number.NEGATIVE_INFINITY) >= pieceCharacters)
        cuts.push(line);
    }
    line = next;
  }
  return cuts.length === 0 ? null : { cuts, end: line };
}

/** Offset of a line's first character that is not a space; null for a blank line or a comment. */
function contentOf(text: string, line: number, next: number): number | null {
  let at = line;
  while (at < next && text[at] === " ") at++;
  return at >= next || text[at] === "\n" || text[at] === "\r" || text[at] === "#" ? null : at;
}

import type { Place } from "../model.ts";

/** Finds lines and columns in a file's text. */
export class Lines {
  readonly #file: string;
  readonly #text: string;
  /** Offsets at which lines start; made when first asked for. */
  #starts: readonly number[] | null = null;

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  /** Line and column of an offset, 1-based; columns count as editors do, in UTF-16 units. */
  place(offset: number): Place {
    this.#starts ??= startsOf(this.#text);
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { file: this.#file, line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
}

function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let newline = text.indexOf("\n"); newline !== -1; newline = text.indexOf("\n", newline + 1))
    starts.push(newline + 1);
  return starts;
}

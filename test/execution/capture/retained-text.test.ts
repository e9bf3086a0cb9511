import fc from "fast-check";
import { expect, test } from "vitest";
import { retainedText } from "../../../src/execution/capture/retained-text.ts";

function retain(limit: number, texts: readonly string[]) {
  const retained = retainedText(limit);
  for (const text of texts) {
    const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    retained.add({ text, lines, bytes: Buffer.byteLength(text) });
  }
  return retained.captured();
}

const nine = Array.from({ length: 9 }, (_, index) => `line${index + 1}\n`);

test("saveLimit 5 keeps two lines, a marker and three lines of nine", () => {
  const text = "line1\nline2\n   [.... 4 lines discarded ...]\nline7\nline8\nline9\n";
  expect(retain(5, nine)).toEqual({ text, discardedLines: 4 });
  expect(retain(5, [nine.join("")])).toEqual({ text, discardedLines: 4 });
});

test("saveLimit 0 keeps nothing and counts all", () => {
  expect(retain(0, nine)).toEqual({ text: "", discardedLines: 9 });
});

test("saveLimit 1 keeps the last line", () => {
  expect(retain(1, nine)).toEqual({ text: "   [.... 8 lines discarded ...]\nline9\n", discardedLines: 8 });
});

test("as many lines as allowed need no marker", () => {
  expect(retain(9, nine)).toEqual({ text: nine.join(""), discardedLines: 0 });
});

test("the last line keeps its missing newline", () => {
  expect(retain(4, ["a\nb\n", "c"])).toEqual({ text: "a\nb\nc", discardedLines: 0 });
});

test("lines of megabytes count as discarded beyond some megabytes", () => {
  const line = `${"x".repeat(1_000_000)}\n`;
  const { text, discardedLines } = retain(
    4096,
    Array.from({ length: 100 }, () => line),
  );
  expect(text.length).toBeLessThan(20_000_000);
  expect(text.split("\n").length - 2 + discardedLines).toBe(100);
});

test("however lines are grouped, the result is the same", () => {
  const grouping = fc.array(
    fc.array(
      fc.string({ maxLength: 3 }).map((text) => text.replaceAll("\n", "")),
      { minLength: 1 },
    ),
  );
  fc.assert(
    fc.property(grouping, fc.nat(12), (groups, limit) => {
      const lines = groups.flat().map((line) => `${line}\n`);
      const top = Math.floor(limit / 2);
      const rest = lines.slice(top);
      const bottom = rest.slice(Math.max(0, rest.length - (limit - top)));
      const discardedLines = rest.length - bottom.length;
      const marker =
        discardedLines > 0 && bottom.length > 0 ? [`   [.... ${discardedLines} lines discarded ...]\n`] : [];
      expect(
        retain(
          limit,
          groups.map((group) => group.map((line) => `${line}\n`).join("")),
        ),
      ).toEqual({ text: [...lines.slice(0, top), ...marker, ...bottom].join(""), discardedLines });
    }),
  );
});

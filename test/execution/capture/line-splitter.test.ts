import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineSplitter } from "../../../src/execution/capture/line-splitter.ts";

/** Feeds the chunks and collects what comes out. */
function split(chunks: readonly (string | Buffer)[], maxLineBytes = 1_000_000) {
  let overlong = 0;
  const splitter = lineSplitter(maxLineBytes, () => overlong++);
  const blocks = chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk)) ?? []);
  const last = splitter.end();
  const all = last === null ? blocks : [...blocks, last];
  return {
    text: all.map(({ text }) => text).join(""),
    lines: all.reduce((sum, { lines }) => sum + lines, 0),
    overlong,
    blocks: all.map(({ text }) => text),
  };
}

describe("lines", () => {
  test("those of one read come as one block", () => {
    expect(split(["a\nb\n\nc\n"])).toMatchObject({ blocks: ["a\nb\n\nc\n"], lines: 4 });
  });

  test("a line that comes in pieces is one line", () => {
    expect(split(["one ", "li", "ne\nnext", "\n"])).toMatchObject({ blocks: ["one line\n", "next\n"], lines: 2 });
  });

  test("an unterminated tail is a line without newline", () => {
    expect(split(["a\n", "tail"])).toMatchObject({ blocks: ["a\n", "tail"], lines: 2 });
  });

  test("a carriage return is kept", () => {
    expect(split(["a\r\nb\rc\n"])).toMatchObject({ text: "a\r\nb\rc\n", lines: 2 });
  });

  test("no output is no line", () => {
    expect(split([])).toMatchObject({ blocks: [], lines: 0, overlong: 0 });
    expect(split([""])).toMatchObject({ blocks: [], lines: 0, overlong: 0 });
  });
});

describe("text", () => {
  test("a code point that comes in two reads stays whole", () => {
    const bytes = Buffer.from("€😀\n");
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(split([bytes.subarray(0, cut), bytes.subarray(cut)]).text).toBe("€😀\n");
    }
  });

  test("bytes that are no UTF-8 become U+FFFD, NUL stays (F39)", () => {
    expect(split([Buffer.from([0x61, 0x80, 0x62, 0, 0x63, 0x0a])]).text).toBe("a\ufffdb\0c\n");
    expect(split([Buffer.from([0x61, 0xff, 0x62])]).text).toBe("a\ufffdb");
  });

  test("half a code point at the end of a line does not eat the newline", () => {
    expect(split([Buffer.from([0xe2, 0x82, 0x0a, 0x62, 0x0a])])).toMatchObject({ text: "\ufffd\nb\n", lines: 2 });
  });
});

describe("a line that is too long", () => {
  test("the limit itself is accepted, newline not counted", () => {
    expect(split(["12345\n", "123456\n", "12345"], 5)).toMatchObject({ text: "12345\n12345", lines: 2, overlong: 1 });
  });

  test("it vanishes whole, however it comes, and its neighbours stay", () => {
    const whole = "before\n123456789\nafter\n";
    for (let one = 0; one <= whole.length; one++) {
      for (let two = one; two <= whole.length; two++) {
        const chunks = [whole.slice(0, one), whole.slice(one, two), whole.slice(two)];
        expect(split(chunks, 6)).toMatchObject({ text: "before\nafter\n", lines: 2, overlong: 1 });
      }
    }
  });

  test("the endless line is one, and what follows its newline is captured (F40)", () => {
    const endless = Array.from({ length: 1000 }, () => "x".repeat(65_536));
    expect(split([...endless, "\nafter\n"], 1000)).toMatchObject({ text: "after\n", lines: 1, overlong: 1 });
  });

  test("an endless line that never ends leaves nothing", () => {
    expect(split(["xxxxxx", "xxxxxx", "xx"], 5)).toMatchObject({ text: "", lines: 0, overlong: 1 });
  });

  test("each one is told of", () => {
    expect(split(["123456\n1\n123456\n123456\n22\n123456"], 5)).toMatchObject({ text: "1\n22\n", overlong: 4 });
  });
});

test("however bytes are cut, the result is that of the whole", () => {
  const byte = fc.oneof(fc.constant(0x0a), fc.constantFrom(0x61, 0xc3, 0xa9, 0xf0, 0x9f), fc.nat(255));
  const chunk = fc.array(byte, { maxLength: 12 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), fc.integer({ min: 1, max: 10 }), (chunks, max) => {
      const lines = Buffer.concat(chunks).toString("latin1").split("\n");
      const tail = lines.pop() ?? "";
      const kept = lines.filter((line) => line.length <= max).map((line) => `${line}\n`);
      if (tail !== "" && tail.length <= max) kept.push(tail);
      expect(split(chunks, max)).toMatchObject({
        text: kept.map((line) => Buffer.from(line, "latin1").toString()).join(""),
        lines: kept.length,
        overlong: [...lines, tail].filter((line) => line.length > max).length,
      });
    }),
  );
});

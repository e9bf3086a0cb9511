import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareCodePoints, JsonFloat, type JsonValue, jsonFloat, plainJson } from "../../src/store/json.ts";
import { BadJson, encodeJson, parseJson } from "../../src/store/json-text.ts";

function text(value: JsonValue): string {
  const encoded = encodeJson(value);
  if (encoded.kind !== "text") throw new Error(encoded.problem);
  return encoded.text;
}

function problem(value: JsonValue): string {
  const encoded = encodeJson(value);
  return encoded.kind === "text" ? `written: ${encoded.text}` : encoded.problem;
}

describe("writing", () => {
  test("keys are sorted by code point at every level, without spaces (FMT-2)", () => {
    expect(text({ b: 1, a: { z: null, "😀": 1, "\uffee": 2, Z: true } })).toBe(
      '{"a":{"Z":true,"z":null,"\\uffee":2,"\\ud83d\\ude00":1},"b":1}',
    );
  });

  test("all but printable ASCII is escaped in lower case (FMT-3)", () => {
    expect(text('é😀\u007f\u0001\b\f\n\r\t"\\/')).toBe('"\\u00e9\\ud83d\\ude00\\u007f\\u0001\\b\\f\\n\\r\\t\\"\\\\/"');
  });

  test.each<[JsonValue, string]>([
    [3, "3"],
    [-0, "0"],
    [9007199254740993n, "9007199254740993"],
    [18446744073709551615n, "18446744073709551615"],
    [-9223372036854775808n, "-9223372036854775808"],
    [jsonFloat(1), "1.0"],
    [jsonFloat(-0), "-0.0"],
    [jsonFloat(0), "0.0"],
    [1.5, "1.5"],
    [1796028509.7174628, "1796028509.7174628"],
    [jsonFloat(1796028509), "1796028509.0"],
    [0.1 + 0.2, "0.30000000000000004"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [-1.5e-7, "-1.5e-07"],
    [1e16, "1e+16"],
    [jsonFloat(9999999999999998), "9999999999999998.0"],
    [1.7976931348623157e308, "1.7976931348623157e+308"],
    [5e-324, "5e-324"],
  ])("%s is written as %s (FMT-4)", (value, expected) => {
    expect(text(value)).toBe(expected);
  });

  test("what other implementations could not read is refused before anything is written (FMT-5)", () => {
    const nested = (levels: number): JsonValue => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(problem(Number.NaN)).toBe("NaN is not a finite number");
    expect(problem([Number.POSITIVE_INFINITY])).toBe("Infinity is not a finite number");
    expect(problem(18446744073709551616n)).toBe(
      "integer 18446744073709551616 is outside -9223372036854775808..18446744073709551615",
    );
    expect(problem("\ud800")).toBe("a string holds half of a surrogate pair");
    expect(problem({ "\udc00": 1 })).toBe("a string holds half of a surrogate pair");
    expect(problem({ data: { value: nested(126) } })).toMatch(/^written/);
    expect(problem({ data: { value: nested(127) } })).toBe("nested more than 128 levels deep");
  });
});

describe("reading", () => {
  test("numbers keep their type and every digit (FMT-4)", () => {
    const source = '{"big":9007199254740993,"e":1e16,"f":1.0,"n":3,"u64":18446744073709551615}';
    const value = parseJson(source);
    expect(value).toEqual({
      big: 9007199254740993n,
      e: new JsonFloat(1e16),
      f: new JsonFloat(1),
      n: 3,
      u64: 18446744073709551615n,
    });
    expect(text(value)).toBe(source.replace("1e16", "1e+16"));
    expect(plainJson(value)).toEqual({ big: 9007199254740992, e: 1e16, f: 1, n: 3, u64: 18446744073709552000 });
  });

  test.each([
    "",
    "{",
    '{"a":1,}',
    "[1,]",
    "[1 2]",
    '{"a" 1}',
    "{a:1}",
    "01",
    "1.",
    "+1",
    "NaN",
    "[1e999]",
    "[18446744073709551616]",
    "[-9223372036854775809]",
    '["\u0001"]',
    '["\\x"]',
    '["\\u12"]',
    "\ufeff{}",
    "1 1.0",
    '{"a":1.0}{"b":2}',
    "[1.0",
    '["a',
    "tru1.0",
    "\0\0\0",
  ])("%j is not JSON of this format (FMT-7)", (source) => {
    expect(() => parseJson(source)).toThrow(BadJson);
    expect(() => parseJson(`[${source},1.0]`)).toThrow(BadJson);
  });

  test("absurd nesting is bad content, not a crash", () => {
    for (const levels of [901, 200_000]) {
      expect(() => parseJson("[".repeat(levels) + "]".repeat(levels))).toThrow(BadJson);
      expect(() => parseJson('{"a":'.repeat(levels))).toThrow(BadJson);
    }
    expect(parseJson("[".repeat(900) + "]".repeat(900))).toBeInstanceOf(Array);
  });

  test("a key named __proto__ is a key like any other", () => {
    for (const source of ['{"__proto__":{"x":1}}', '{"__proto__":{"x":1.0}}']) {
      const value = parseJson(source);
      expect(text(value)).toBe(source);
      expect(({} as { x?: number }).x).toBeUndefined();
    }
  });
});

const jsonValues = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.bigInt(-(2n ** 63n), -(2n ** 53n)),
    fc.bigInt(2n ** 53n, 2n ** 64n - 1n),
    // -0 is left out: JSON.stringify, which this is held against, writes it as 0.
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((value) => !Object.is(value, -0))
      .map(jsonFloat),
    fc.string({ unit: "grapheme" }),
    fc.array(tie("value")),
    fc.dictionary(fc.string({ unit: "grapheme" }), tie("value")),
  ),
})).value;

test("what was written is read back as it was, and as JSON.parse understands it", () => {
  fc.assert(
    fc.property(jsonValues, (value) => {
      const written = text(value);
      expect(text(parseJson(written))).toBe(written);
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(plainJson(parseJson(written)))));
    }),
  );
});

test("texts are ordered by code point", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
      const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect(Math.sign(compareCodePoints(a, b))).toBe(bytes);
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { collapsed } from "../../src/config/blanks.ts";
import { canonicalJson } from "../../src/config/canonical-json.ts";
import { byCodePoint } from "../../src/config/code-points.ts";

test.each([
  [30, "30"],
  [30.5, "30.5"],
  [0.1, "0.1"],
  [1e22, "10000000000000000000000"],
  [-5, "-5"],
  [0.0001, "0.0001"],
  [0.00001, "1e-05"],
  [1.5e-7, "1.5e-07"],
  [1e-100, "1e-100"],
  [-0.00002, "-2e-05"],
  [Number.POSITIVE_INFINITY, "Infinity"],
  [Number.NEGATIVE_INFINITY, "-Infinity"],
  [2 ** 60, "1152921504606846976"],
])("%d is written %s", (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test("text is ASCII, with the short escapes there are", () => {
  expect(canonicalJson('"\\/\n\r\t\b\f\u0000\u007fé😀')).toBe(
    '"\\"\\\\/\\n\\r\\t\\b\\f\\u0000\\u007f\\u00e9\\ud83d\\ude00"',
  );
});

test("keys are sorted by code point, absent ones left out", () => {
  expect(canonicalJson({ "😀": 1, "\uffff": 2, a: 3, B: 4, gone: undefined })).toBe(
    '{"B":4,"a":3,"\\uffff":2,"\\ud83d\\ude00":1}',
  );
});

test("what is written can be read back", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      expect(JSON.parse(canonicalJson(value as never))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("the order by code points is that of UTF-8 bytes", () => {
  const text = fc.string({ unit: "binary", maxLength: 6 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(byCodePoint(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
  );
});

test("white space collapses as Python splits", () => {
  expect(collapsed("  a \t b\n")).toBe("a b");
  expect(collapsed("a\u001c\u0085\u00a0\u2003\u3000b\ufeff")).toBe("a b\ufeff");
  expect(collapsed(" \u2028 ")).toBe("");
});

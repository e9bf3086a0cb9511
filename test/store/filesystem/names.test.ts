import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeName, encodeName, encodePrefix, isTruncated } from "../../../src/store/filesystem/names.ts";

describe("the name table of state 4.2", () => {
  test.each([
    ["backup", "backup"],
    ["Backup", "%42ackup"],
    ["my.job", "my%2Ejob"],
    ["a/b", "a%2Fb"],
    ["a b", "a%20b"],
    ["a%b", "a%25b"],
    ["con", "%63on"],
    ["CON", "%43%4F%4E"],
    ["nul", "%6Eul"],
    ["com10", "com10"],
    ["com1", "%63om1"],
    ["runs/con", "runs%2Fcon"],
    ["..", "%2E%2E"],
    ["é", "%C3%A9"],
    ["😀", "%F0%9F%98%80"],
    ["a+b~", "a%2Bb%7E"],
    ["runs/Backup.v2", "runs%2F%42ackup%2Ev2"],
    ["lock/global/sem#0", "lock%2Fglobal%2Fsem%230"],
    ["2026-08-07T12:00:00_00:00", "2026-08-07%5412%3A00%3A00_00%3A00"],
    ["\ud800", "%ED%A0%80"],
    ["\udc00\ud800x", "%ED%B0%80%ED%A0%80x"],
    ["_", "_"],
    ["\0", "%00"],
  ])("%j ⇄ %s", (name, token) => {
    expect(encodeName(name)).toBe(token);
    expect(decodeName(token)).toBe(name);
  });

  test.each([
    ["x".repeat(131), `${"x".repeat(96)}%.b1790cfd5736ade4b610a957c3189de2`],
    ["é".repeat(22), `${"%C3%A9".repeat(16)}%.a2ad340d88ebff230b50341fbc5ef768`],
    ["X".repeat(44), `${"%58".repeat(32)}%.34cc8610509f8b874a79c6195102c3a9`],
  ])("a name too long for a file is cut and marked", (name, token) => {
    expect(encodeName(name)).toBe(token);
    expect(token).toHaveLength(130);
    expect(isTruncated(token)).toBe(true);
    expect(decodeName(token)).toBeNull();
  });

  test("130 characters still fit", () => {
    expect(encodeName("x".repeat(130))).toBe("x".repeat(130));
  });
});

test.each(["%zz", "%4", "%", "A", "a.b", "%61", "con", "%C3", "%C0%80", "%F8%88%80%80%80", "%F5%80%80%80", "", "é"])(
  "%j is no name's file, and is given none (ENC-3)",
  (token) => {
    expect(decodeName(token)).toBeNull();
  },
);

const names = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.constantFrom("nul", "COM1", "A"),
);

test("no two names share a file, also where case does not count (LAY-2, ENC-1)", () => {
  fc.assert(
    fc.property(names, names, (a, b) => {
      fc.pre(a !== b && a !== "" && b !== "");
      expect(encodeName(a).toLowerCase()).not.toBe(encodeName(b).toLowerCase());
    }),
  );
});

test("every name that fits is told from its file, and begins as its prefix does (ENC-2)", () => {
  fc.assert(
    fc.property(names, (name) => {
      fc.pre(name !== "");
      const token = encodeName(name);
      if (!isTruncated(token)) expect(decodeName(token)).toBe(name);
      expect(encodeName(`runs/${name}`).startsWith(encodePrefix("runs/"))).toBe(true);
    }),
  );
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { cases } from "./cases.ts";

/** The manual's page of the dialect: its examples are real, and its table of findings is complete. */
const page = readFileSync(new URL("../../docs/schedules.md", import.meta.url), "utf8");

const examples = [...page.matchAll(/\| `([^`|]+ [^`|]+ [^`|]+ [^`|]+ [^`|]+)` *\|/g)].map(([, text = ""]) => text);

describe("an example of the manual", () => {
  test("is there for every form of item", () => {
    expect(examples.length).toBeGreaterThan(20);
  });
  test.each(examples)("parses: %s", (expression) => {
    expect(parseSchedule(expression, "job").source).toBe(expression);
  });
});

test("the manual knows every finding, and none besides", () => {
  const told = [...page.matchAll(/^\| `([a-z-]+)` *\| (?:warning|note)/gm)].map(([, code]) => code);
  const known = new Set(cases.lint.flatMap(({ findings }) => findings.map(([code]) => code)));
  expect(told.sort()).toEqual([...known].sort());
});

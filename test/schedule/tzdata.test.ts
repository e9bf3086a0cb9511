import { expect, test } from "vitest";
import { tzdataProblem } from "../../src/schedule/tzdata.ts";
import { zoneNamed } from "../../src/schedule/zone.ts";

test("the platform that runs the tests has the rules they need", () => {
  expect(tzdataProblem()).toBeNull();
});

test("a database without zones is reported, and what helps", () => {
  expect(tzdataProblem(() => null)).toBe(
    "the time zone database of this Node.js lacks America/New_York: install a Node.js with full ICU data",
  );
});

test("an old database is reported with the first rule it misses", () => {
  // Almaty kept the offset of Omsk until 2024.
  const old = (name: string) => zoneNamed(name === "Asia/Almaty" ? "Asia/Omsk" : name);
  expect(tzdataProblem(old)).toBe(
    "the time zone database of this Node.js is older than 2024a (Asia/Almaty is out of date): update Node.js",
  );
});

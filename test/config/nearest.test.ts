import { expect, test } from "vitest";
import { nearest } from "../../src/config/nearest.ts";

const keys = ["name", "command", "schedule", "maximumRetries", "initialDelay", "utc", "web"];

test.each([
  ["comand", "command"],
  ["schedual", "schedule"],
  ["max_imum-retries", "maximumRetries"],
  ["INITIALDELAY", "initialDelay"],
  ["nmae", "name"],
  ["ucт", null],
  ["wbe", "web"],
  ["timezone", null],
  ["x", null],
  ["", null],
])("%j was meant to be %j", (word, meant) => {
  expect(nearest(word, keys)).toBe(meant);
});

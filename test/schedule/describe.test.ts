import { expect, test } from "vitest";
import { describe, describeExpression } from "../../src/schedule/describe.ts";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { cases } from "./cases.ts";

test("every expression of the data reads as it should, from its text and from its schedule", () => {
  for (const { e, key, desc } of cases.parse) {
    expect(describeExpression(e, key), JSON.stringify(e)).toBe(desc);
    if (e === e.trim()) expect(describe(parseSchedule(e, key)), JSON.stringify(e)).toBe(desc);
  }
});

test("what the dialect refuses is a custom schedule, as given", () => {
  for (const { e, key } of cases.errors)
    if (e !== "@reboot") expect(describeExpression(e, key)).toBe(`Custom schedule: ${e}`);
  expect(describeExpression("  @midnight ")).toBe("Custom schedule:   @midnight ");
  expect(describeExpression("H * * * *")).toBe("Custom schedule: H * * * *");
});

test.each([
  ["@reboot", "Once, when cronstable starts (@reboot)"],
  ["  @REBOOT ", "Once, when cronstable starts (@reboot)"],
  ["@Weekly", "At midnight every Sunday"],
  ["*/20 * 4 * * mon *", "At every minute past hour 04, on Monday, at seconds 00, 20, 40"],
  ["0 9 13 * 5", "At 09:00, on the 13th, and only on Friday"],
  ["0 0 L-3 * *", "At 00:00, on 3 days before the last day of the month"],
  ["0 0 L,L * *", "At 00:00, on the last day of the month"],
  ["0 0 *,L * *", "Custom schedule: 0 0 *,L * *"],
  ["0 0 * * *,L5", "Custom schedule: 0 0 * * *,L5"],
  ["0 0 * * L3-1", "Custom schedule: 0 0 * * L3-1"],
  ["0 0 11,12,13,21,22,23 * *", "At 00:00, on the 11th, 12th, 13th, 21st, 22nd and 23rd of the month"],
  ["5,10 * * * * * *", "At seconds 05, 10"],
  ["0 0 * * 1-5 2027,2028", "At 00:00, on Monday, Tuesday, Wednesday, Thursday and Friday, in 2027 and 2028"],
])("%s reads %s", (expression, text) => {
  expect(describeExpression(expression)).toBe(text);
});

import { expect, test } from "vitest";
import {
  advanceLease,
  dateRunKey,
  logicalDateText,
  manualRunKey,
  recoveryRunKey,
  runNamespace,
  xcomScope,
  xcomStream,
} from "../../src/dag/run-key.rules.ts";
import { readInstant } from "../../src/journal/instant.ts";

test.each([
  ["2026-07-04T02:00:00+00:00", "2026-07-04T02:00:00_00:00"],
  ["2026-07-04T10:00:00+08:00", "2026-07-04T02:00:00_00:00"],
  ["2026-07-03T22:30:00-03:30", "2026-07-04T02:00:00_00:00"],
  ["2026-07-04T02:00:00Z", "2026-07-04T02:00:00_00:00"],
  ["2026-07-04T02:00:00.250000+00:00", "2026-07-04T02:00:00.250000_00:00"],
])("D-KEY-1: %s has the key %s, so one instant has one key", (text, key) => {
  const instant = readInstant(text);
  if (instant === null) throw new Error(text);
  expect(dateRunKey(instant)).toBe(key);
});

test("the logical date says the instant in UTC", () => {
  expect(logicalDateText(Date.UTC(2026, 6, 4, 2))).toBe("2026-07-04T02:00:00+00:00");
});

test("keys that name no instant, and where a run's things are (5.1, 5.2)", () => {
  expect(manualRunKey("df4a142c4f0b")).toBe("manual-df4a142c4f0b");
  expect(recoveryRunKey("f".repeat(64))).toBe(`recovery-${"f".repeat(64)}`);
  expect(runNamespace("etl")).toBe("dagrun/etl");
  expect(advanceLease("etl", "manual-df4a142c4f0b")).toBe("dagadvance/etl/manual-df4a142c4f0b");
  expect(xcomScope("etl", "977161c1")).toBe("dagxcom/etl/977161c1");
  expect(xcomStream("etl", "977161c1")).toBe("artifacts/dagxcom/etl/977161c1");
});

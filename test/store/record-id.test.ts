import { expect, test } from "vitest";
import { highestCanonicalId, nextRecordId, recordId, writtenAtSeconds } from "../../src/store/record-id.ts";

const writer = "028c48ae53c0";

test("a record is named by microsecond, writer and number (state 4.3)", () => {
  expect(recordId(1796028540_034604, writer, 95)).toBe("0001796028540.034604-028c48ae53c0-000000000095");
});

test("a clock that stands behind does not make a new record look old (NAM-2)", () => {
  const floor = "0001796028540.999999-ffffffffffff-000000000007";
  const next = nextRecordId(floor, 1796028540_034604, writer, 8);
  expect(next).toBe("0001796028541.000000-028c48ae53c0-000000000008");
  expect(next > floor).toBe(true);
});

test("within one microsecond the writer and the number decide, and the floor still holds (NAM-3)", () => {
  const floor = recordId(5_000_000, "aaaaaaaaaaaa", 3);
  expect(nextRecordId(floor, 5_000_000, "bbbbbbbbbbbb", 1)).toBe("0000000000005.000000-bbbbbbbbbbbb-000000000001");
  expect(nextRecordId(floor, 5_000_000, "000000000000", 1)).toBe("0000000000005.000001-000000000000-000000000001");
});

test("a floor beyond a double's digits is still raised by one", () => {
  expect(nextRecordId("9999999999998.999999-aaaaaaaaaaaa-000000000001", 0, writer, 1)).toBe(
    "9999999999999.000000-028c48ae53c0-000000000001",
  );
});

test("foreign names set no floor and have no age (NAM-4)", () => {
  const canonical = recordId(1_000_000, writer, 1);
  expect(highestCanonicalId([canonical, "zzz-foreign"])).toBe(canonical);
  expect(highestCanonicalId(["zzz-foreign"])).toBeNull();
  expect(writtenAtSeconds(canonical)).toBe(1);
  expect(writtenAtSeconds("17.5-x")).toBe(17.5);
  for (const id of ["zzz-foreign", "nan-1", "inf-1", "1e400-1", "-5", "0x10-1"])
    expect(writtenAtSeconds(id)).toBe(Number.POSITIVE_INFINITY);
});

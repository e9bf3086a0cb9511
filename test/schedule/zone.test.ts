import { describe, expect, test } from "vitest";
import { localZone, offsetAt, resolve, zoneNamed } from "../../src/schedule/zone.ts";
import { zoneNames } from "../../src/schedule/zone-names.ts";
import { label, zone } from "./moments.ts";

describe("a zone name", () => {
  test.each(["US/Eastern", "EST5EDT", "CET", "Etc/UTC", "Asia/Katmandu", "Asia/Kathmandu", "Etc/GMT+12", "GB", "UTC"])(
    "%s is known, and shown as written",
    (name) => {
      expect(zoneNamed(name)?.label).toBe(name);
    },
  );

  // F17: the platform's own parser takes some of these, so it must not be the judge.
  test.each([
    "",
    "+05:30",
    "+02:00",
    "america/new_york",
    "utc",
    "PST",
    "Mars/Base",
    "../etc/passwd",
    " UTC",
    "Z",
    "local",
  ])("%j is unknown", (name) => {
    expect(zoneNamed(name)).toBeNull();
  });

  test("of any length or shape is judged without harm", () => {
    for (const name of ["A".repeat(100_000), "__proto__", "constructor", "UTC\u0000"])
      expect(zoneNamed(name)).toBeNull();
  });

  test("gives one zone, however often it is asked for", () => {
    expect(zoneNamed("Europe/Paris")).toBe(zoneNamed("Europe/Paris"));
  });

  test("of the list is one that this platform has rules of", () => {
    expect([...zoneNames].filter((name) => zoneNamed(name) === null)).toEqual([]);
    expect(zoneNames.size).toBe(597);
  });
});

test("the local zone is the host's in all but its label", () => {
  const local = localZone("America/New_York");
  expect(local).toMatchObject({ label: "local", name: "America/New_York" });
  expect(local && offsetAt(local, label("2026-07-01T00:00"))).toBe(-4 * 3600);
  expect(localZone("America/New_York")).toBe(local);
  expect(localZone("UTC")?.label).toBe("local");
  expect(localZone("Nowhere/Land")).toBeNull();
});

describe("the offset", () => {
  test.each([
    ["America/New_York", "2026-03-08T06:59:59", -5],
    ["America/New_York", "2026-03-08T07:00:00", -4],
    ["America/New_York", "2026-11-01T05:59:59", -4],
    ["America/New_York", "2026-11-01T06:00:00", -5],
    ["Australia/Lord_Howe", "2024-10-05T15:29:59", 10.5],
    ["Australia/Lord_Howe", "2024-10-05T15:30:00", 11],
    ["Pacific/Apia", "2011-12-30T09:59:59", -10],
    ["Pacific/Apia", "2011-12-30T10:00:00", 14],
    ["Asia/Kathmandu", "1985-12-31T18:29:59", 5.5],
    ["Asia/Kathmandu", "1985-12-31T18:30:00", 5.75],
    ["America/Noronha", "2000-10-08T02:00:00", -1], // for one week only
    ["America/Noronha", "2000-10-15T01:00:00", -2],
    ["Europe/London", "2099-07-01T00:00:00", 1],
    ["Asia/Kathmandu", "9999-12-31T23:59:59", 5.75],
  ])("of %s at %s is %d hours", (name, at, hours) => {
    expect(offsetAt(zone(name), label(at))).toBe(hours * 3600);
  });

  test("is found at once for instants that nobody plans for", () => {
    for (const at of [-62_135_596_800, -9e12, 9e12])
      expect(Number.isFinite(offsetAt(zone("Europe/Paris"), at))).toBe(true);
  });
});

describe("a label", () => {
  const instant = (text: string) => label(text.replace("Z", ""));
  test("that is shown once is that instant", () => {
    expect(resolve(zone("America/New_York"), label("2026-03-08T01:59:59"))).toEqual({
      kind: "once",
      instant: instant("2026-03-08T06:59:59Z"),
    });
    expect(resolve(zone("America/New_York"), label("2026-03-08T03:00:00"))).toEqual({
      kind: "once",
      instant: instant("2026-03-08T07:00:00Z"),
    });
  });
  test("that is skipped comes late by the size of the jump", () => {
    expect(resolve(zone("America/New_York"), label("2026-03-08T02:30"))).toEqual({
      kind: "skipped",
      instant: instant("2026-03-08T07:30:00Z"),
    });
    expect(resolve(zone("Pacific/Apia"), label("2011-12-30T12:00"))).toEqual({
      kind: "skipped",
      instant: instant("2011-12-30T22:00:00Z"),
    });
  });
  test("that is shown twice is two instants", () => {
    expect(resolve(zone("America/New_York"), label("2026-11-01T01:30"))).toEqual({
      kind: "twice",
      instant: instant("2026-11-01T05:30:00Z"),
      second: instant("2026-11-01T06:30:00Z"),
    });
    expect(resolve(zone("America/New_York"), label("2026-11-01T02:00"))).toMatchObject({ kind: "once" });
  });
});

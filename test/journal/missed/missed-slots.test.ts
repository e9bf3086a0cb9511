import { describe, expect, test } from "vitest";
import type { NotRunReason } from "../../../src/contract/reason.ts";
import { MISSED_SPANS_MAX } from "../../../src/journal/limits.ts";
import { missedRecord } from "../../../src/journal/missed/missed-record.ts";
import { createMissedSlots } from "../../../src/journal/missed/missed-slots.ts";
import { isAccountedHere, withSlot } from "../../../src/journal/missed/missed-spans.rules.ts";
import { journalBench, NOON } from "../support/journal-bench.ts";

const minute = 60_000;
const forbidden: NotRunReason = { kind: "forbidden", running: 1 };

function node() {
  const bench = journalBench();
  const { backend, writes, clock } = bench;
  const slots = createMissedSlots({ host: "nodea", backend, writes, clock });
  const missed = (n: number, reason: NotRunReason = forbidden, before: number | null = null): void =>
    slots.missed("backup", { slot: NOON + n * minute, before, reason });
  return { ...bench, slots, missed, written: () => writes.settled("missed/backup") };
}

describe("DESIGN idea 9: slots that did not run", () => {
  test("in a row, for one reason, are one record, written a minute after the first", async () => {
    const here = node();
    for (let n = 1; n <= 3; n++) here.missed(n);
    await here.pass(minute - 1);
    expect(await here.bodies("missed/backup")).toEqual([]);
    await here.pass(1);
    expect(await here.bodies("missed/backup")).toEqual([
      {
        at: "2026-11-30T12:01:00+00:00",
        count: 3,
        from: "2026-11-30T12:01:00+00:00",
        host: "nodea",
        reason: { kind: "forbidden", running: 1 },
        to: "2026-11-30T12:03:00+00:00",
      },
    ]);
  });

  test("for another reason begin a record of their own; a gap that was not walked stands as a whole", async () => {
    const here = node();
    here.missed(1);
    here.missed(2, { kind: "last-run-failed" });
    here.missed(3, { kind: "too-late", lateMs: 420_000 }, NOON + 10 * minute);
    here.missed(11, { kind: "too-late", lateMs: 20_000 });
    here.slots.flush();
    await here.written();
    expect((await here.bodies("missed/backup")).map(({ count, to }) => [count, to])).toEqual([
      [1, "2026-11-30T12:01:00+00:00"],
      [1, "2026-11-30T12:02:00+00:00"],
      [null, "2026-11-30T12:10:00+00:00"],
      [1, "2026-11-30T12:11:00+00:00"],
    ]);
    expect(here.clock.pending).toBe(0);
  });

  test("are read back, newest first", async () => {
    const here = node();
    here.missed(1);
    here.missed(2, { kind: "slot-held", holder: "nodeb#1" });
    here.slots.flush();
    await here.written();
    expect(await here.slots.newest("backup")).toMatchObject({
      kind: "done",
      value: [
        { reason: { kind: "slot-held", holder: "nodeb#1" } },
        { reason: forbidden, from: NOON + minute, count: 1 },
      ],
    });
  });

  test("the stream keeps itself short", async () => {
    const here = node();
    for (let n = 0; n < 200; n++) {
      here.missed(n, n % 2 === 0 ? forbidden : { kind: "last-run-failed" });
      here.slots.flush();
    }
    await here.written();
    expect((await here.bodies("missed/backup")).length).toBeLessThanOrEqual(57);
  });

  test("what has a row of its own, or another node to account for it, is left out", () => {
    const left: NotRunReason[] = [
      { kind: "paused", until: 1, note: "" },
      { kind: "not-owner", owner: "nodeb" },
      { kind: "removed" },
      { kind: "disabled" },
    ];
    expect(left.filter(isAccountedHere)).toEqual([]);
    const here = node();
    for (const reason of left) here.missed(1, reason);
    expect(here.clock.pending).toBe(0);
  });

  test("other holders and pools are other reasons; how late or how many are not", () => {
    const span = (reason: NotRunReason) => ({ from: 1, to: 1, count: 1, reason });
    const grows = (a: NotRunReason, b: NotRunReason): boolean =>
      withSlot([span(a)], { slot: 2, before: null, reason: b }).length === 1;
    expect(grows({ kind: "slot-held", holder: "a" }, { kind: "slot-held", holder: "b" })).toBe(false);
    expect(
      grows({ kind: "pool-refused", pool: "a", why: "full" }, { kind: "pool-refused", pool: "b", why: "full" }),
    ).toBe(false);
    expect(grows({ kind: "pool-unavailable", pool: "a" }, { kind: "pool-unavailable", pool: "b" })).toBe(false);
    expect(grows({ kind: "store-unavailable", what: "a" }, { kind: "store-unavailable", what: "b" })).toBe(false);
    expect(grows({ kind: "forbidden", running: 1 }, { kind: "forbidden", running: 2 })).toBe(true);
  });

  test("gathered spans have a limit; the oldest go", () => {
    let spans: ReturnType<typeof withSlot> = [];
    for (let n = 0; n < MISSED_SPANS_MAX + 5; n++)
      spans = withSlot(spans, { slot: n, before: null, reason: n % 2 === 0 ? forbidden : { kind: "superseded" } });
    expect([spans.length, spans[0]?.from]).toEqual([MISSED_SPANS_MAX, 5]);
  });

  test.each<NotRunReason>([
    { kind: "paused", until: NOON, note: "maint" },
    { kind: "last-run-failed" },
    { kind: "forbidden", running: 2 },
    { kind: "slot-held", holder: "nodeb#1" },
    { kind: "store-unavailable", what: "cluster slot" },
    { kind: "not-owner", owner: null },
    { kind: "pool-refused", pool: "db", why: "queue full" },
    { kind: "pool-unavailable", pool: "db" },
    { kind: "superseded" },
    { kind: "too-late", lateMs: 420_000 },
    { kind: "disabled" },
    { kind: "removed" },
    { kind: "shutting-down" },
  ])("every reason is read back as it was: $kind", (reason) => {
    const record = { from: NOON, to: NOON + minute, count: 2, reason, host: "nodea", at: NOON };
    expect(missedRecord.decode(missedRecord.encode(record))).toEqual({ kind: "record", value: record });
  });
});

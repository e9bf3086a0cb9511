import { describe, expect, test } from "vitest";
import { standaloneGate } from "../../src/dag/cluster-gate.ts";
import { decodeEnvelope } from "../../src/store/envelope.ts";
import { type Fleet, startFleet } from "./support/fleet.ts";

const scheduled = (more = "", schedule = "* * * * *") => `
dags:
  - name: d
    schedule: "${schedule}"
${more
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => `    ${line}\n`)
  .join("")}    tasks:
      - {id: a, command: a}
`;

const kinds = (fleet: Fleet): string[] => fleet.keys("d").map((key) => `${key} ${fleet.run("d", key).kind}`);

const checkpoints = (fleet: Fleet): string[] => {
  const stream = fleet.medium.streams.get("catchup-dag/d");
  return (stream?.ids ?? []).map((id) => {
    const found = decodeEnvelope(stream?.texts.get(id) ?? "");
    return found.kind === "current" ? `${found.data.kind} ${found.data.watermark}` : "?";
  });
};

describe("a scheduled DAG", () => {
  test("has one run per instant, whatever the number of nodes (D-INT-7, D-SCH-4, D-KEY-2)", async () => {
    const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml: scheduled() });
    fleet.start("a");
    fleet.start("b");
    await fleet.until(180);
    expect(kinds(fleet)).toEqual([
      "2026-07-04T10:01:00_00:00 scheduled",
      "2026-07-04T10:02:00_00:00 scheduled",
      "2026-07-04T10:03:00_00:00 scheduled",
    ]);
    expect(fleet.launched.map(({ time }) => time)).toEqual(["10:01:00", "10:02:00", "10:03:00"]);
    expect(fleet.run("d", "2026-07-04T10:01:00_00:00").logicalDate).toBe("2026-07-04T10:01:00+00:00");
  });

  test("has its instants in its zone, and its keys in UTC (D-KEY-1)", async () => {
    const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml: scheduled("timezone: Asia/Kolkata", "0 16 * * *") });
    fleet.start("a");
    await fleet.until(3600);
    expect(fleet.keys("d")).toEqual(["2026-07-04T10:30:00_00:00"]);
  });

  test("that is disabled has no runs but those asked for", async () => {
    const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml: scheduled("enabled: false") });
    const node = fleet.start("a");
    await fleet.until(180);
    expect(fleet.keys("d")).toEqual([]);
    await node.control.trigger("d", null);
    await fleet.until(2);
    expect(fleet.run("d")).toMatchObject({ kind: "manual", state: "success" });
  });

  test("has the run of its slot as soon as the store takes it", async () => {
    const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml: scheduled("", "1 10 * * *") });
    const node = fleet.start("a");
    await fleet.until(1);
    node.conduct = (operation) =>
      operation === "swapDocument" ? { kind: "fail", message: "full" } : { kind: "answer" };
    await fleet.until(120);
    expect(fleet.keys("d")).toEqual([]);
    node.conduct = () => ({ kind: "answer" });
    await fleet.until(6);
    expect(kinds(fleet)).toEqual(["2026-07-04T10:01:00_00:00 scheduled"]);
    expect(fleet.launched).toHaveLength(1);
  });

  test("does not make up for an outage of the store unless it is to (D-SCH-7)", async () => {
    const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml: scheduled() });
    const node = fleet.start("a");
    await fleet.until(1);
    node.conduct = (operation) =>
      operation === "swapDocument" ? { kind: "fail", message: "full" } : { kind: "answer" };
    await fleet.until(600);
    node.conduct = () => ({ kind: "answer" });
    await fleet.until(6);
    expect(fleet.keys("d")).toEqual(["2026-07-04T10:10:00_00:00"]);
  });
});

describe("after three missed slots", () => {
  const missed = async (more: string, downSeconds = 180) => {
    const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml: scheduled(more) });
    const node = fleet.start("a");
    await fleet.until(40);
    await node.engine.stop();
    await fleet.until(downSeconds);
    const next = fleet.start("a");
    await fleet.until(5);
    return { fleet, next, made: kinds(fleet).slice(1) };
  };

  test.each([
    ["skip", []],
    ["run-once", ["2026-07-04T10:04:00_00:00 catchup"]],
    [
      "run-all",
      ["2026-07-04T10:02:00_00:00 catchup", "2026-07-04T10:03:00_00:00 catchup", "2026-07-04T10:04:00_00:00 catchup"],
    ],
  ])("%s has what it says (D-CAT-1)", async (onMissed, expected) => {
    const { made, fleet } = await missed(`onMissed: ${onMissed}`);
    expect(made).toEqual(expected);
    expect(checkpoints(fleet)).toEqual([]);
  });

  test("a deadline drops the old ones", async () => {
    const { made } = await missed("onMissed: run-all\nstartingDeadlineSeconds: 100");
    expect(made).toEqual(["2026-07-04T10:03:00_00:00 catchup", "2026-07-04T10:04:00_00:00 catchup"]);
  });

  test("of more than 100, 100 are made up for and it is said; run-once means the newest (D-CAT-1, D-CAT-5)", async () => {
    const all = await missed("onMissed: run-all", 3 * 3600);
    expect(all.made).toHaveLength(100);
    expect(all.next.logged.lines).toContainEqual(expect.stringMatching(/^WARNING dag d: missed more than 100 runs/));
    const once = await missed("onMissed: run-once", 3 * 3600);
    expect(once.made).toEqual(["2026-07-04T13:01:00_00:00 catchup"]);
  });
});

test("an offset begins with an open checkpoint, and a crash during it loses nothing (D-CAT-2, D-CAT-3)", async () => {
  // The offset of a DAG of this name is 29.4 s.
  const yaml = scheduled("onMissed: run-all\ncatchupJitterSeconds: 30");
  const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml });
  const node = fleet.start("a");
  await fleet.until(40);
  await node.engine.stop();
  await fleet.until("10:03:30");
  const second = fleet.start("a");
  await fleet.until(3);
  expect(checkpoints(fleet)).toEqual(["open 2026-07-04T10:01:00+00:00"]);
  expect(fleet.keys("d")).toHaveLength(1);
  second.crash();
  await fleet.until(3);
  fleet.start("a");
  await fleet.until(3);
  expect(fleet.keys("d")).toHaveLength(1);
  await fleet.until(30);
  expect(kinds(fleet)).toEqual([
    "2026-07-04T10:01:00_00:00 scheduled",
    "2026-07-04T10:02:00_00:00 catchup",
    "2026-07-04T10:03:00_00:00 catchup",
    "2026-07-04T10:04:00_00:00 scheduled",
  ]);
  expect(checkpoints(fleet).at(-1)).toBe("close 2026-07-04T10:01:00+00:00");
});

test("while what was missed cannot be read, no later date hides it from the start after a crash (D-CAT-1)", async () => {
  const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml: scheduled("onMissed: run-all") });
  const node = fleet.start("a");
  await fleet.until(40);
  node.crash();
  await fleet.until("10:03:30");
  const second = fleet.start("a");
  second.conduct = (operation) =>
    operation === "listRecords" ? { kind: "fail", message: "input/output error" } : { kind: "answer" };
  await fleet.until("10:04:30");
  expect(fleet.keys("d")).toHaveLength(1);
  second.crash();
  fleet.start("a");
  await fleet.until("10:05:30");
  expect(kinds(fleet)).toEqual([
    "2026-07-04T10:01:00_00:00 scheduled",
    "2026-07-04T10:02:00_00:00 catchup",
    "2026-07-04T10:03:00_00:00 catchup",
    "2026-07-04T10:04:00_00:00 catchup",
    "2026-07-04T10:05:00_00:00 scheduled",
  ]);
});

test("a node that becomes the one to create runs makes up for what the one before it missed, and then goes on (D-SCH-5)", async () => {
  const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml: scheduled("onMissed: run-all") });
  let leader = "a";
  const gateOf = (name: string) => ({ ...standaloneGate, mayCreateScheduled: () => leader === name });
  const node = fleet.start("a", { gate: gateOf("a") });
  fleet.start("b", { gate: gateOf("b") });
  await fleet.until(40);
  node.crash();
  await fleet.until("10:03:59");
  leader = "b";
  await fleet.until("10:04:30");
  expect(kinds(fleet)).toEqual([
    "2026-07-04T10:01:00_00:00 scheduled",
    "2026-07-04T10:02:00_00:00 catchup",
    "2026-07-04T10:03:00_00:00 catchup",
    "2026-07-04T10:04:00_00:00 scheduled",
  ]);
});

test("a clock that jumps is a gap: the current slot, and what catch-up owes (D-SCH-7, D-CAT-4)", async () => {
  const fleet = startFleet({ at: "2026-07-04T10:00:30Z", yaml: scheduled("onMissed: run-all") });
  const node = fleet.start("a");
  await fleet.until(40);
  fleet.clock.step(3 * 60_000);
  await fleet.until(60);
  expect(kinds(fleet).map((line) => line.replace(/^2026-07-04T|_00:00/g, ""))).toEqual([
    "10:01:00 scheduled",
    "10:02:00 catchup",
    "10:03:00 catchup",
    "10:04:00 catchup",
    "10:05:00 scheduled",
  ]);
  expect(node.logged.lines).toContainEqual(expect.stringMatching(/^WARNING job dag:d: the scheduler fell behind/));
});

describe("backfill", () => {
  const daily = scheduled("timezone: Asia/Shanghai", "0 2 * * *");
  const at = "2026-07-04T10:00:30Z";

  test("creates the run of every slot in the range, once (F67, D-BKF-1, D-BKF-3, D-BKF-6)", async () => {
    const fleet = startFleet({ at, yaml: daily });
    const node = fleet.start("a");
    await fleet.until(1);
    const ask = () => node.control.backfill("d", "2026-01-01T00:00+08:00", "2026-01-03T00:00+08:00");
    expect(await ask()).toEqual({ kind: "created", instants: 2, created: 2, next: null });
    expect(await ask()).toEqual({ kind: "created", instants: 2, created: 0, next: null });
    expect(await node.control.backfill("d", "2025-12-31T16:00", "2026-01-02T16:00Z")).toMatchObject({ created: 0 });
    expect(kinds(fleet)).toEqual(["2025-12-31T18:00:00_00:00 backfill", "2026-01-01T18:00:00_00:00 backfill"]);
    await fleet.until(2);
    expect(fleet.launched).toHaveLength(2);
  });

  test("has both ends in, stops at 100 and says where (D-BKF-2, D-BKF-7)", async () => {
    const fleet = startFleet({ at, yaml: daily });
    const node = fleet.start("a");
    await fleet.until(1);
    expect(await node.control.backfill("d", "2026-01-01T18:00:00", "2026-01-01T18:00:00")).toMatchObject({
      instants: 1,
    });
    expect(await node.control.backfill("d", "2016-01-01", "2026-01-01")).toEqual({
      kind: "created",
      instants: 100,
      created: 100,
      next: "2016-04-10T18:00:00+00:00",
    });
  });

  test.each([
    ["2026-01-02", "2026-01-01", "bad range"],
    ["nonsense", "2026-01-01", "bad range"],
    ["2026-01-01", "2026-13-01", "bad range"],
  ])("refuses %s to %s (F67)", async (from, to, kind) => {
    const fleet = startFleet({ at, yaml: daily });
    const node = fleet.start("a");
    expect(await node.control.backfill("d", from, to)).toEqual({ kind });
  });

  test("has one run a day over a clock change (F68)", async () => {
    const fleet = startFleet({ at, yaml: scheduled("timezone: America/New_York", "30 2 * * *") });
    const node = fleet.start("a");
    await fleet.until(1);
    await node.control.backfill("d", "2026-03-07", "2026-03-10");
    expect(fleet.keys("d")).toEqual([
      "2026-03-07T07:30:00_00:00",
      "2026-03-08T07:30:00_00:00",
      "2026-03-09T06:30:00_00:00",
    ]);
  });

  test("keeps what was written before a fault, and the same request creates the rest (D-BKF-4)", async () => {
    const fleet = startFleet({ at, yaml: daily });
    const node = fleet.start("a");
    await fleet.until(1);
    node.holdSpawns = true;
    let writes = 0;
    node.conduct = (operation) =>
      operation === "swapDocument" && ++writes > 5 ? { kind: "fail", message: "read-only" } : { kind: "answer" };
    expect(await node.control.backfill("d", "2026-01-01", "2026-01-11")).toEqual({ kind: "unavailable" });
    const before = fleet.keys("d").length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(10);
    node.conduct = () => ({ kind: "answer" });
    const again = await node.control.backfill("d", "2026-01-01", "2026-01-11");
    expect(again).toMatchObject({ kind: "created", instants: 10, created: 10 - before });
    node.useStore(null);
    expect(await node.control.backfill("d", "2026-01-01", "2026-01-11")).toEqual({ kind: "unavailable" });
  });

  test("is not for DAGs without a schedule, nor for none at all", async () => {
    const fleet = startFleet({ at, yaml: "dags:\n  - name: d\n    tasks:\n      - {id: a, command: a}\n" });
    const node = fleet.start("a");
    expect(await node.control.backfill("d", "2026-01-01", "2026-01-11")).toEqual({ kind: "unknown dag" });
    expect(await node.control.backfill("x", "2026-01-01", "2026-01-11")).toEqual({ kind: "unknown dag" });
  });
});

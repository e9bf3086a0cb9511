import { expect, test } from "vitest";
import { startFleet } from "./support/fleet.ts";

const at = "2026-07-04T10:00:00Z";
const yaml = `
dags:
  - name: d
    schedule: "0 2 * * *"
    tasks:
      - {id: a, command: a}
      - {id: g, type: approval, dependsOn: [a]}
`;

test("a listing shows what this node did at once, and what others did after 5 s at most (D-API-1)", async () => {
  const fleet = startFleet({ at, yaml });
  const [here, there] = [fleet.start("a"), fleet.start("b")];
  await fleet.until(1);
  expect((await here.control.list())[0]).toMatchObject({ name: "d", scheduled: true, schedule: "0 2 * * *" });
  expect(await here.control.list()).toEqual([expect.not.objectContaining({ latestRun: expect.anything() })]);
  await here.control.trigger("d", "alice");
  expect((await here.control.list())[0]).toMatchObject({ runCounts: { running: 1 }, totalRuns: 1 });
  await fleet.until(2);
  const [row] = await here.control.list();
  expect(row).toMatchObject({ awaiting: [{ taskkey: "g" }], latestRun: { kind: "manual", state: "running" } });
  expect(here.control.figures()).toEqual([{ dag: "d", activeRuns: 1, gatesWaiting: 1 }]);
  await there.control.runs("d", 10);
  const [runKey = ""] = fleet.keys("d");
  await here.control.decide("d", runKey, "g", "reject", "bob");
  await fleet.until(6);
  expect(await there.control.runs("d", 10)).toMatchObject({
    value: [{ state: "failed", taskStates: { success: 1, failed: 1 } }],
  });
});

test("runs come newest first, as many as are asked for, and their documents as they lie there", async () => {
  const fleet = startFleet({ at, yaml });
  const node = fleet.start("a");
  await fleet.until(1);
  for (const day of ["2026-01-03", "2026-01-01", "2026-01-02"]) {
    await node.control.backfill("d", day, `${day}T23:00`);
    await fleet.until(1);
  }
  const listed = await node.control.runs("d", 2);
  expect(listed.kind === "answer" && listed.value.map(({ logicalDate }) => logicalDate?.slice(0, 10))).toEqual([
    "2026-01-02",
    "2026-01-01",
  ]);
  const run = await node.control.run("d", "2026-01-02T02:00:00_00:00");
  expect(run).toMatchObject({
    kind: "answer",
    value: { kind: "backfill", mapped: {}, tasks: { a: { state: "success" } } },
  });
  expect(await node.control.run("d", "nope")).toEqual({ kind: "unknown run" });
  expect(await node.control.run("x", "nope")).toEqual({ kind: "unknown dag" });
});

test("what tasks handed on is shown by task and key, small texts as they are (D-XCM-7)", async () => {
  const fleet = startFleet({
    at,
    yaml,
    commands: { a: () => ({ push: { "z/1": "[1]", big: "x".repeat(70_000), b: "\u00e9" } }) },
  });
  const node = fleet.start("a");
  await fleet.until(1);
  await node.control.trigger("d", null);
  await fleet.until(1);
  const [runKey = ""] = fleet.keys("d");
  const xcom = await node.control.xcom("d", runKey);
  expect(xcom.kind === "answer" && xcom.value).toMatchObject({
    truncated: false,
    entries: [
      { taskkey: "a", key: "b", value: "\u00e9", size: 2 },
      { taskkey: "a", key: "big", oversize: true, size: 70_000 },
      { taskkey: "a", key: "z/1", value: "[1]", size: 3 },
    ],
  });
  node.conduct = (operation) => (operation === "newestByKey" ? { kind: "fail", message: "no" } : { kind: "answer" });
  expect(await node.control.xcom("d", runKey)).toMatchObject({ value: { entries: [] } });
});

test("output of a task is there while it runs, on its node (D-LOG-2)", async () => {
  const fleet = startFleet({ at, yaml, commands: { a: () => ({ seconds: 10 }) } });
  const [here, there] = [fleet.start("a"), fleet.start("b")];
  await fleet.until(1);
  await here.control.trigger("d", null);
  await fleet.until(2);
  const [runKey = ""] = fleet.keys("d");
  expect(here.control.taskOutput("d", runKey, "a")).toMatchObject({ kind: "answer", value: { published: 0 } });
  expect(there.control.taskOutput("d", runKey, "a")).toEqual({ kind: "answer", value: null });
  expect(here.control.taskOutput("x", runKey, "a")).toEqual({ kind: "unknown dag" });
  await fleet.until(20);
  expect(here.control.taskOutput("d", runKey, "a")).toEqual({ kind: "answer", value: null });
});

test("a store that does not answer says so, and a trigger that was not recorded has no key (D-TRI-1)", async () => {
  const fleet = startFleet({ at, yaml });
  const node = fleet.start("a");
  await fleet.until(1);
  node.conduct = () => ({ kind: "fail", message: "gone" });
  expect(await node.control.trigger("d", null)).toEqual({ kind: "not recorded" });
  expect((await node.control.list())[0]).toMatchObject({ name: "d" });
  await fleet.until(6);
  expect(await node.control.runs("d", 5)).toEqual({ kind: "unreadable" });
  node.useStore(null);
  expect(await node.control.trigger("d", null)).toEqual({ kind: "not recorded" });
  expect(await node.control.runs("d", 5)).toEqual({ kind: "unreadable" });
  expect(await node.control.trigger("x", null)).toEqual({ kind: "unknown dag" });
});

import { expect, test } from "vitest";
import { startFleet } from "./support/fleet.ts";

const at = "2026-07-04T10:00:30Z";
const daily = (schedule: string, more = "") => `
dags:
  - name: d
    schedule: ${schedule}
${more}    tasks:
      - {id: a, command: a}
`;

test("D-SCH-2: without a schedule there are no runs but those asked for", async () => {
  const fleet = startFleet({ at, yaml: "dags:\n  - name: d\n    tasks:\n      - {id: a, command: a}\n" });
  const node = fleet.start("a");
  await fleet.until(100_000);
  expect([node.engine.nextFire("d"), fleet.keys("d")]).toEqual([null, []]);
  await node.control.trigger("d", null);
  await fleet.until(2);
  expect(fleet.run("d").kind).toBe("manual");
});

test("D-SCH-6: a reload keeps the next fire of an unchanged schedule; a changed one begins in the future", async () => {
  const fleet = startFleet({ at, yaml: daily('"0 12 * * *"') });
  const node = fleet.start("a");
  await fleet.until(1);
  const noon = Date.parse("2026-07-04T12:00:00Z");
  expect(node.engine.nextFire("d")).toBe(noon);
  node.apply(daily('"0 12 * * *"', "    retainRuns: 9\n"));
  expect(node.engine.nextFire("d")).toBe(noon);
  node.apply(daily('"0 9 * * *"'));
  expect(node.engine.nextFire("d")).toBe(Date.parse("2026-07-05T09:00:00Z"));
  await fleet.until(60);
  expect(fleet.keys("d")).toEqual([]);
});

test("D-SCH-9: a schedule that is exhausted has no next fire, and nobody complains", async () => {
  const fleet = startFleet({ at, yaml: daily('{minute: "0", hour: "2", year: "2020"}') });
  const node = fleet.start("a");
  await fleet.until(3600);
  expect([node.engine.nextFire("d"), fleet.keys("d")]).toEqual([null, []]);
  expect(node.logged.lines.filter((line) => line.startsWith("ERROR"))).toEqual([]);
});

test("D-CFG-10: a schedule's tick launches and reports nothing of its own", async () => {
  const yaml = `defaults:
  onSuccess: {report: {shell: {command: tell}}}
dags:
  - name: d
    schedule: "* * * * *"
    tasks:
      - {id: g, type: approval}
      - {id: a, dependsOn: [g], command: a}
`;
  const fleet = startFleet({ at, yaml });
  const node = fleet.start("a");
  await fleet.until(65);
  const [runKey = ""] = fleet.keys("d");
  expect([fleet.launched, node.reports]).toEqual([[], []]);
  await node.control.decide("d", runKey, "g", "approve", "alice");
  await fleet.until(2);
  expect(node.reports).toMatchObject([{ hook: "onSuccess", job: { name: "d.a" } }]);
});

test("D-BKF-5: a disabled DAG is backfilled, also for dates to come, and a time without offset is UTC", async () => {
  const fleet = startFleet({ at, yaml: daily('"0 2 * * *"', "    enabled: false\n") });
  const node = fleet.start("a");
  await fleet.until(1);
  expect(await node.control.backfill("d", "2027-01-01T02:00", "2027-01-02")).toMatchObject({ created: 1 });
  await fleet.until(2);
  expect(fleet.run("d", "2027-01-01T02:00:00_00:00")).toMatchObject({ kind: "backfill", state: "success" });
});

test("F68: an hour that comes twice has one run", async () => {
  const fleet = startFleet({ at, yaml: daily('"30 1 * * *"', "    timezone: America/New_York\n") });
  const node = fleet.start("a");
  await fleet.until(1);
  await node.control.backfill("d", "2026-11-01T00:00-04:00", "2026-11-01T23:59-05:00");
  expect(fleet.keys("d")).toHaveLength(1);
});

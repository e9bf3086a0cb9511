import { expect, test } from "vitest";
import { type Commands, startFleet } from "./support/fleet.ts";

const at = "2026-07-04T10:00:30Z";

const mapped = `
dags:
  - name: d
    tasks:
      - {id: src, command: src, environment: [{key: OWN, value: "1"}]}
      - {id: each, dependsOn: [src], expand: {fromTask: src, key: list}, command: each}
`;
const publishing: Commands = { src: () => ({ seconds: 1, push: { list: "[1, 2]" } }) };

test("D-INT-4, D-INT-12: a run is one document, and its tasks leave no other records than what they published", async () => {
  const fleet = startFleet({ at, yaml: mapped, commands: publishing });
  const node = fleet.start("a");
  await fleet.until(1);
  await node.control.trigger("d", null);
  await fleet.until(5);
  const { runId, runKey } = fleet.run("d");
  expect(fleet.states("d")).toBe("success: each expanded, each#0 success, each#1 success, src success");
  expect([...fleet.medium.documents].map(([name, documents]) => [name, [...documents.keys()]])).toEqual([
    ["dagrun/d", [runKey]],
  ]);
  expect([...fleet.medium.streams.keys()]).toEqual([`artifacts/dagxcom/d/${runId}`]);
  expect([...fleet.medium.leases.keys()]).toEqual([`dagadvance/d/${runKey}`]);
  expect(node.logged.lines).toContain(`INFO dag d: run ${runKey} ended: success`);
});

test("D-INT-5, D-INT-6, D-XCM-9: a task is a job's invocation in a scope of its run's own", async () => {
  const fleet = startFleet({ at, yaml: mapped, commands: publishing });
  const node = fleet.start("a");
  await fleet.until(1);
  await node.control.trigger("d", null);
  await node.control.trigger("d", null);
  await fleet.until(5);
  const runs = fleet.keys("d").map((key) => fleet.run("d", key));
  for (const { runKey, runId } of runs) {
    const launches = fleet.launched.filter((launch) => launch.runKey === runKey).map(({ request }) => request);
    expect(launches.map(({ job }) => job.name)).toEqual(["d.src", "d.each", "d.each"]);
    expect(new Set(launches.map(({ stateScope }) => stateScope))).toEqual(new Set([`dagxcom/d/${runId}`]));
    expect(launches[0]?.job.launch.environment).toEqual([["OWN", "1"]]);
  }
  expect([...fleet.medium.streams.keys()].sort()).toEqual(
    runs.map(({ runId }) => `artifacts/dagxcom/d/${runId}`).sort(),
  );
});

test("D-MAP-9: a list whose records keep leaving stays unknown, in these words, until it can be read", async () => {
  const fleet = startFleet({ at, yaml: mapped, commands: publishing });
  const node = fleet.start("a");
  await fleet.until(1);
  await node.control.trigger("d", null);
  const stream = `artifacts/dagxcom/d/${fleet.run("d").runId}`;
  const message = `stream '${stream}': records kept leaving during the read`;
  node.conduct = (operation) => (operation === "newestByKey" ? { kind: "fail", message } : { kind: "answer" });
  await fleet.until(4);
  expect(fleet.task("d", "each").state).toBe("pending");
  expect(node.logged.lines).toContain(
    `WARNING dag d: xcom 'list' from 'src' could not be read (${message}); leaving the task unexpanded to retry`,
  );
  node.conduct = () => ({ kind: "answer" });
  await fleet.until(6);
  expect(fleet.run("d").state).toBe("success");
});

test("F65: a sensor's time counts from its first poke, over a kill in the middle", async () => {
  const fleet = startFleet({
    at: "2026-07-04T10:00:00Z",
    yaml: `dags:
  - name: d
    tasks:
      - {id: s, type: sensor, command: s, pokeIntervalSeconds: 2, pokeTimeoutSeconds: 60}
`,
    commands: { s: () => ({ exitCode: 1 }) },
  });
  const node = fleet.start("a");
  await fleet.until(1);
  await node.control.trigger("d", null);
  await fleet.until("10:00:21");
  node.crash();
  await fleet.until(1);
  fleet.start("a");
  await fleet.until("10:02:00");
  const { firstPokeAt, finishedAt, state, failReason } = fleet.task("d", "s");
  expect([state, failReason]).toEqual(["failed", "sensor timed out"]);
  const took = Number(finishedAt) - Number(firstPokeAt);
  expect(took).toBeGreaterThanOrEqual(60);
  expect(took).toBeLessThanOrEqual(63);
  const waits = fleet.launched.slice(1).map((poke, index) => (poke.at - (fleet.launched[index]?.at ?? 0)) / 1000);
  expect(waits.filter((seconds) => seconds < 2 || seconds > 3)).toHaveLength(1); // while the dead owner's lease held
});

import { describe, expect, test } from "vitest";
import type { RecoveryOutcome } from "../../src/contract/dag-control.ts";
import { type Commands, type FleetNode, startFleet } from "./support/fleet.ts";

const at = "2026-07-04T10:00:00Z";

const linear = (load = "load") => `
dags:
  - name: d
    schedule: "0 0 * * *"
    tasks:
      - {id: extract, command: extract}
      - {id: load, dependsOn: [extract], command: ${load}}
      - {id: notify, dependsOn: [load], command: notify}
`;

const failsOnce: Commands = {
  extract: () => ({ push: { data: "[1]" } }),
  load: (launch) => ({ exitCode: launch.runKey.startsWith("recovery-") ? 0 : 1 }),
};

/** A run of which `load` has failed. */
async function failedRun(commands: Commands = failsOnce) {
  const fleet = startFleet({ at, yaml: linear(), commands });
  const node = fleet.start("a");
  await fleet.until(1);
  const triggered = await node.control.trigger("d", null);
  await fleet.until(2);
  const runKey = triggered.kind === "triggered" ? triggered.runKey : "";
  return { fleet, node, runKey };
}

const bodyOf = (outcome: RecoveryOutcome): Record<string, unknown> => {
  if (outcome.kind !== "preview" && outcome.kind !== "accepted") throw new Error(JSON.stringify(outcome));
  return { ...outcome.body };
};

async function preview(node: FleetNode, runKey: string, fields = {}): Promise<Record<string, unknown>> {
  return bodyOf(await node.control.recover("d", runKey, fields));
}

describe("a recovery", () => {
  test("shows what it would do, and does it when it is told to (15)", async () => {
    const { fleet, node, runKey } = await failedRun();
    const shown = await preview(node, runKey);
    expect(shown).toMatchObject({
      dryRun: true,
      sourceRunKey: runKey,
      mode: "failed",
      tasks: ["load", "notify"],
      preserved: ["extract"],
      resetMappings: [],
      artifacts: [{ name: "extract/data", size: 3, meta: null }],
      configurationChanged: false,
    });
    expect(fleet.keys("d")).toEqual([runKey]);
    const { planToken } = shown;
    const accepted = bodyOf(await node.control.recover("d", runKey, { dryRun: false, planToken }));
    const recovered = `recovery-${planToken}`;
    expect(accepted).toEqual({ dag: "d", runKey: recovered, runId: planToken, created: true, dryRun: false });
    await fleet.until(5);
    expect(fleet.states("d", recovered)).toBe("success: extract success, load success, notify success");
    expect(fleet.task("d", "extract", recovered).reusedFrom).toBe(runKey);
    expect(fleet.run("d", recovered).recovery?.status).toBe("ready");
    expect(fleet.launched.filter(({ runKey: key }) => key === recovered).map(({ taskKey }) => taskKey)).toEqual([
      "load",
      "notify",
    ]);
    const xcom = await node.control.xcom("d", recovered);
    expect(xcom.kind === "answer" && xcom.value.entries).toMatchObject([
      { taskkey: "extract", key: "data", value: "[1]" },
    ]);
    const again = bodyOf(await node.control.recover("d", runKey, { dryRun: false, planToken }));
    expect(again).toMatchObject({ runKey: recovered, created: false });
    expect(fleet.run("d", runKey).state).toBe("failed"); // the source is never changed
  });

  test("has a stale preview when the configuration is another; then it has to be allowed", async () => {
    const { node, runKey } = await failedRun();
    const { planToken } = await preview(node, runKey);
    node.apply(linear("other"));
    expect(await node.control.recover("d", runKey, { dryRun: false, planToken })).toEqual({
      kind: "refused",
      error: "recovery preview is stale; preview again",
    });
    const shown = await preview(node, runKey);
    expect(shown.configurationChanged).toBe(true);
    const token = { dryRun: false, planToken: shown.planToken };
    expect(await node.control.recover("d", runKey, token)).toMatchObject({
      kind: "refused",
      error: expect.stringContaining("configuration differs"),
    });
    expect(await node.control.recover("d", runKey, { ...token, allowConfigChange: true })).toMatchObject({
      kind: "accepted",
    });
  });

  test("finds its source busy while somebody holds its lease", async () => {
    const { fleet, node, runKey } = await failedRun();
    const { planToken } = await preview(node, runKey);
    const name = `dagadvance/d/${runKey}`;
    const lease = { name, holder: "b#1:retention:2", fence: 9, expiresAtSeconds: fleet.clock.wallNow() / 1000 + 60 };
    fleet.medium.leases.set(name, { lease, writtenAtSeconds: 0 });
    const busy = { kind: "refused", error: "source run is busy; retry shortly" };
    expect(await node.control.recover("d", runKey, { dryRun: false, planToken })).toEqual(busy);
    await fleet.until(61);
    expect(await node.control.recover("d", runKey, { dryRun: false, planToken })).toMatchObject({ kind: "accepted" });
  });

  test("whose write was not answered leaves its source's lease to lapse", async () => {
    const { fleet, node, runKey } = await failedRun();
    const { planToken } = await preview(node, runKey);
    node.conduct = (operation) => (operation === "swapDocument" ? { kind: "silent", lands: true } : { kind: "answer" });
    let outcome: RecoveryOutcome | null = null;
    void node.control.recover("d", runKey, { dryRun: false, planToken }).then((answer) => {
      outcome = answer;
    });
    await fleet.until(11);
    expect(outcome).toEqual({ kind: "unavailable" });
    expect(fleet.lease("d", runKey)?.expiresAtSeconds).toBeGreaterThan(fleet.clock.wallNow() / 1000);
    node.conduct = () => ({ kind: "answer" });
    await fleet.until(60); // the run is there, and the scan finds it
    expect(fleet.run("d", `recovery-${planToken}`).state).toBe("success");
  });

  test("whose payload is gone after it was accepted fails, and runs nothing", async () => {
    const { fleet, node, runKey } = await failedRun();
    const { planToken } = await preview(node, runKey);
    node.conduct = (operation) =>
      operation === "getBlob" ? { kind: "fail", message: "slow disk" } : { kind: "answer" };
    await node.control.recover("d", runKey, { dryRun: false, planToken });
    await fleet.until(2);
    expect(fleet.run("d", `recovery-${planToken}`).recovery?.status).toBe("preparing");
    fleet.medium.blobs.clear();
    node.conduct = () => ({ kind: "answer" });
    await fleet.until(6);
    expect(fleet.run("d", `recovery-${planToken}`)).toMatchObject({ state: "failed", recovery: { status: "failed" } });
    expect(fleet.launched.filter(({ runKey: key }) => key.startsWith("recovery"))).toEqual([]);
  });

  test.each([
    [{ dryRun: false }, "invalid", "dryRun: false needs the planToken of a preview"],
    [{ tasks: "load" }, "invalid", "tasks must be a list of strings"],
    [{ dryRun: "no" }, "invalid", "dryRun must be true or false"],
    [{ mode: "all" }, "refused", "mode must be 'failed' or 'from'"],
    [{ tasks: ["load"] }, "refused", "tasks is only valid for mode 'from'"],
    [{ mode: "from", tasks: [] }, "refused", "select at least one existing task instance"],
  ])("refuses %j", async (fields, kind, error) => {
    const { node, runKey } = await failedRun();
    expect(await node.control.recover("d", runKey, fields)).toEqual({ kind, error });
  });

  test("refuses what is not there, or not finished", async () => {
    const { fleet, node } = await failedRun({ ...failsOnce, extract: () => ({ seconds: 100 }) });
    const [runKey = ""] = fleet.keys("d");
    const refused = (error: string) => ({ kind: "refused", error });
    expect(await node.control.recover("d", runKey, {})).toEqual(refused("recovery requires a finished run"));
    expect(await node.control.recover("d", "x", {})).toEqual(refused("workflow run not found"));
    expect(await node.control.recover("x", runKey, {})).toEqual(refused("workflow not found"));
    node.useStore(null);
    expect(await node.control.recover("d", runKey, {})).toEqual({ kind: "unavailable" });
  });

  test("accepted again after its run was deleted has the same key and id, and is another run (D-RCV-1)", async () => {
    const { fleet, node, runKey } = await failedRun();
    const { planToken } = await preview(node, runKey);
    await node.control.recover("d", runKey, { dryRun: false, planToken });
    await fleet.until(5);
    const first = fleet.run("d", `recovery-${planToken}`);
    fleet.medium.documents.get("dagrun/d")?.delete(`recovery-${planToken}`);
    await fleet.until(5);
    const again = bodyOf(await node.control.recover("d", runKey, { dryRun: false, planToken }));
    expect(again).toMatchObject({ created: true, runId: first.runId });
    expect(fleet.run("d", `recovery-${planToken}`).createdAt).toBeGreaterThan(first.createdAt);
  });
});

describe("a recovery of a range", () => {
  test("makes a run for each date whose latest one has failed, and is complete once (15)", async () => {
    const fails: Commands = { load: (launch) => ({ exitCode: /^2026-01-0[24]/.test(launch.runKey) ? 1 : 0 }) };
    const fleet = startFleet({ at, yaml: linear(), commands: fails });
    const node = fleet.start("a");
    await fleet.until(1);
    await node.control.backfill("d", "2026-01-01", "2026-01-05");
    await fleet.until(5);
    const range = { from: "2026-01-01", to: "2026-01-05" };
    const shown = bodyOf(await node.control.recoverRange("d", range));
    expect(shown).toMatchObject({ dryRun: true, dates: 5 });
    expect((shown.plans as { sourceRunKey: string }[]).map(({ sourceRunKey }) => sourceRunKey.slice(0, 10))).toEqual([
      "2026-01-02",
      "2026-01-04",
    ]);
    const execute = { ...range, dryRun: false, planToken: shown.planToken };
    const done = bodyOf(await node.control.recoverRange("d", execute));
    expect(done).toMatchObject({ complete: true, runs: [{}, {}] });
    await fleet.until(5);
    const recovered = fleet.keys("d").filter((key) => key.startsWith("recovery-"));
    expect(recovered.map((key) => [fleet.run("d", key).logicalDate, fleet.run("d", key).state]).sort()).toEqual([
      ["2026-01-02T00:00:00+00:00", "success"],
      ["2026-01-04T00:00:00+00:00", "success"],
    ]);
    expect(bodyOf(await node.control.recoverRange("d", execute))).toEqual(done);
    expect(fleet.keys("d")).toHaveLength(7);
    expect(await node.control.recoverRange("d", { from: "x", to: "y" })).toEqual({
      kind: "invalid",
      error: "bad date range",
    });
  });
});

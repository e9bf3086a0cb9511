import { describe, expect, test } from "vitest";
import { decodeEnvelope } from "../../src/store/envelope.ts";
import { type Fleet, type FleetNode, startFleet } from "./support/fleet.ts";

const at = "2026-07-04T10:00:00Z";

const yaml = (retainRuns: number, more = "") => `
dags:
  - name: d
    schedule: "0 0 * * *"
    retainRuns: ${retainRuns}
    tasks:
      - {id: a, command: a}
${more}`;

/** Ten finished runs of the first ten days of the year, made by a node that keeps them all and has gone. */
async function tenRuns(): Promise<Fleet> {
  const fleet = startFleet({
    at,
    yaml: yaml(50),
    commands: { a: (_launch, run) => ({ push: { own: `${run}`, shared: "same" } }) },
  });
  const node = fleet.start("first");
  await fleet.until(1);
  for (let day = 1; day <= 10; day++) {
    const date = `2026-01-${String(day).padStart(2, "0")}`;
    await node.control.backfill("d", date, date);
    await fleet.until(1);
  }
  await node.store.documents.mutate(`kv/dagxcom/d/${fleet.run("d", dayKey(3)).runId}`, "k", () => ({
    kind: "put",
    body: { key: "k" },
    answer: null,
  }));
  void node.engine.stop();
  await fleet.until(1);
  return fleet;
}

const dayKey = (day: number): string => `2026-01-${String(day).padStart(2, "0")}T00:00:00_00:00`;
const days = (fleet: Fleet): number[] => fleet.keys("d").map((key) => Number(key.slice(8, 10)));
const start = (fleet: Fleet, retainRuns = 3): FleetNode => fleet.start("a", { yaml: yaml(retainRuns) });

describe("retention", () => {
  test("keeps the newest finished runs and deletes the others with all they stood for (D-RET-2, D-RET-3, D-XCM-10)", async () => {
    const fleet = await tenRuns();
    expect(days(fleet)).toHaveLength(10);
    const gone = fleet.run("d", dayKey(1)).runId;
    const kept = fleet.run("d", dayKey(10)).runId;
    start(fleet);
    await fleet.until(1);
    expect(days(fleet)).toEqual([8, 9, 10]);
    expect(fleet.medium.streams.has(`artifacts/dagxcom/d/${gone}`)).toBe(false);
    expect(fleet.medium.streams.has(`artifacts/dagxcom/d/${kept}`)).toBe(true);
    expect([...fleet.medium.documents.keys()].filter((name) => name.startsWith("kv/"))).toEqual([]);
    expect(fleet.medium.blobs.size).toBe(2); // payloads are the collector's
    expect([...fleet.medium.leases.values()].every(({ lease }) => lease.expiresAtSeconds === 0)).toBe(true);
  });

  test("deletes the document first: cut off after it, no run is left without its XCom (D-RET-11)", async () => {
    const fleet = await tenRuns();
    const gone = fleet.run("d", dayKey(1)).runId;
    const node = fleet.start("a", { yaml: yaml(9), store: false });
    node.conduct = (operation) => (operation === "prune" ? { kind: "fail", message: "full" } : { kind: "answer" });
    node.useStore(fleet.medium);
    await fleet.until(1);
    expect(days(fleet)).not.toContain(1);
    expect(fleet.medium.streams.has(`artifacts/dagxcom/d/${gone}`)).toBe(true);
  });

  test("comes round every hour, and leaves active runs alone (D-RET-1, D-RET-3)", async () => {
    const fleet = startFleet({ at, yaml: yaml(1), commands: { a: () => ({ seconds: 1 }) } });
    const node = fleet.start("a");
    await fleet.until(1);
    await node.control.backfill("d", "2026-01-01", "2026-01-04");
    await fleet.until(5);
    expect(days(fleet)).toEqual([1, 2, 3, 4]);
    await fleet.until(3610);
    expect(days(fleet)).toHaveLength(1);
  });

  test("leaves a run whose lease is held (D-RET-4)", async () => {
    const fleet = await tenRuns();
    const name = `dagadvance/d/${dayKey(2)}`;
    const lease = { name, holder: "b#0123456789ab", fence: 9, expiresAtSeconds: fleet.clock.wallNow() / 1000 + 3600 };
    fleet.medium.leases.set(name, { lease, writtenAtSeconds: 0 });
    start(fleet);
    await fleet.until(1);
    expect(days(fleet)).toEqual([2, 8, 9, 10]);
  });

  test("leaves what was created again under a key it listed, and shows it (D-KEY-4, D-RET-6, D-RET-7, D-API-2)", async () => {
    const fleet = await tenRuns();
    const node = fleet.start("a", { yaml: yaml(50) });
    await fleet.until(1);
    await node.control.runs("d", 50); // what it knows of finished runs it keeps
    const documents = fleet.medium.documents.get("dagrun/d");
    const text = documents?.get(dayKey(1)) ?? "";
    const again = text
      .replace(/"createdAt":[\d.]+/, '"createdAt":1796028441.5')
      .replace(/"runId":"\w+"/, `"runId":"${"f".repeat(32)}"`);
    documents?.set(dayKey(1), again);
    node.apply(yaml(3));
    await fleet.until(3605);
    expect(days(fleet).filter((day) => day < 8)).toEqual([1]);
    const listed = await node.control.runs("d", 50);
    expect(listed.kind === "answer" && listed.value.find(({ runKey }) => runKey === dayKey(1))?.runId).toBe(
      "f".repeat(32),
    );
  });

  test("that hangs in a delete leaves that lease to lapse and frees the others (D-OWN-5, D-RET-8, D-RET-10)", async () => {
    const fleet = await tenRuns();
    const node = fleet.start("a", { yaml: yaml(3), store: false });
    let writes = 0;
    node.conduct = (operation) =>
      operation === "swapDocument" && ++writes === 2 ? { kind: "silent", lands: true } : { kind: "answer" };
    node.useStore(fleet.medium);
    await fleet.until(15);
    const held = [...fleet.medium.leases.values()]
      .filter(({ lease }) => lease.expiresAtSeconds > 0)
      .map(({ lease }) => lease);
    expect(held.map(({ name, holder }) => [name, holder.replace(/[0-9a-f]{12}/g, "…")])).toEqual([
      [`dagadvance/d/${dayKey(2)}`, "a#…:retention:…"],
    ]);
    node.conduct = () => ({ kind: "answer" });
    expect(await node.control.backfill("d", "2026-01-02", "2026-01-02")).toMatchObject({ created: 1 });
    await fleet.until(20);
    expect(fleet.run("d", dayKey(2)).state).toBe("running"); // nobody can have it before the lease lapses
    await fleet.until(60);
    expect(fleet.run("d", dayKey(2)).state).toBe("success");
  });

  test("that is too slow leaves the rest to the next pass (D-RET-8)", async () => {
    const fleet = await tenRuns();
    const node = fleet.start("a", { yaml: yaml(3), store: false });
    node.conduct = (operation) =>
      operation === "swapDocument" ? { kind: "slow", delayMs: 8_000 } : { kind: "answer" };
    node.useStore(fleet.medium);
    await fleet.until(200);
    expect(days(fleet)).toEqual([4, 5, 6, 7, 8, 9, 10]);
    expect([...fleet.medium.leases.values()].every(({ lease }) => lease.expiresAtSeconds === 0)).toBe(true);
  });

  test("writes the newest date down before its run goes, so that a restart does not replay months (D-CAT-6)", async () => {
    const catching = (retainRuns: number) =>
      yaml(retainRuns).replace("    retainRuns", "    onMissed: run-all\n    retainRuns");
    const fleet = startFleet({ at, yaml: catching(50) });
    const node = fleet.start("first");
    await fleet.until(1);
    await node.control.backfill("d", "2026-07-04", "2026-07-04");
    await fleet.until(2);
    await node.control.backfill("d", "2026-01-01", "2026-01-05");
    await fleet.until(2);
    void node.engine.stop();
    await fleet.until(1);
    const second = fleet.start("a", { yaml: catching(2) });
    await fleet.until(2);
    expect(days(fleet)).toEqual([4, 5]);
    const stream = fleet.medium.streams.get("catchup-dag/d");
    const found = decodeEnvelope(stream?.texts.get(stream.ids[0] ?? "") ?? "");
    expect(found.kind === "current" && found.data).toMatchObject({
      kind: "close",
      watermark: "2026-07-04T00:00:00+00:00",
    });
    void second.engine.stop();
    await fleet.until(1);
    fleet.start("a", { yaml: catching(2) });
    await fleet.until(5);
    expect(days(fleet)).toEqual([4, 5]);
  });

  test("goes on with slots that came due meanwhile, once it is through (D-RET-9, D-SCH-8)", async () => {
    const fleet = await tenRuns();
    const every = yaml(3).replace("0 0 * * *", "* * * * * * *");
    const node = fleet.start("a", { yaml: every, store: false });
    node.conduct = (operation) =>
      operation === "swapDocument" ? { kind: "slow", delayMs: 4_000 } : { kind: "answer" };
    node.useStore(fleet.medium);
    await fleet.until(20);
    const during = fleet.keys("d").filter((key) => key.startsWith("2026-07-04"));
    expect(during).toEqual([]);
    node.conduct = () => ({ kind: "answer" });
    await fleet.until(5);
    const after = fleet.keys("d").filter((key) => key.startsWith("2026-07-04"));
    expect(after.length).toBeGreaterThan(15);
  });
});

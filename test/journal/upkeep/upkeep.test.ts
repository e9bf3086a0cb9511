import { describe, expect, test } from "vitest";
import type { DagConfig, DagTaskConfig } from "../../../src/config/model.ts";
import { runRecord } from "../../../src/journal/ledger/run-record.ts";
import { pauseRecord } from "../../../src/journal/pauses/pause-record.ts";
import { type CollectionRequest, collectGarbage } from "../../../src/journal/upkeep/collection.ts";
import { createCollector } from "../../../src/journal/upkeep/collector.ts";
import { manifestRecord } from "../../../src/journal/upkeep/manifest-record.ts";
import { configuredBy, createManifests } from "../../../src/journal/upkeep/manifests.ts";
import type { JsonObject } from "../../../src/store/json.ts";
import { encodeJson } from "../../../src/store/json-text.ts";
import type { Store } from "../../../src/store/store.ts";
import { jobConfig } from "../../support/job-config.ts";
import { configOf } from "../../support/node.ts";
import { failing, journalBench, NOON } from "../support/journal-bench.ts";
import { ran } from "../support/rows.ts";

const hour = 3600_000;
const day = 24 * hour;
const own = { host: "nodea", jobSetId: "v1:0", jobs: ["backup"], scopes: ["global"], dags: ["etl"] };

describe("GC-1: manifests", () => {
  function node() {
    const bench = journalBench();
    const { backend, writes, clock } = bench;
    const manifests = createManifests({ host: "nodea", backend, writes, clock });
    const minutes = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) {
        void manifests.minute(() => own);
        await bench.pass(60_000);
      }
    };
    return { ...bench, manifests, minutes };
  }

  test("one at the start, then every six hours, and one whenever a backend comes up", async () => {
    const here = node();
    await here.minutes(6 * 60);
    expect(await here.bodies("manifests/nodea")).toHaveLength(1);
    await here.minutes(1);
    expect(await here.bodies("manifests/nodea")).toHaveLength(2);
    here.manifests.due();
    await here.minutes(1);
    expect((await here.bodies("manifests/nodea")).map((body) => encodeJson(body)).at(-1)).toEqual({
      kind: "text",
      text: '{"at":"2026-11-30T18:01:00+00:00","dags":["etl"],"host":"nodea","jobSetId":"v1:0","jobs":["backup"],"scopes":["global"]}',
    });
  });

  test("one that is lost is counted and tried again in ten minutes", async () => {
    const here = node();
    here.behave(failing("append"));
    await here.minutes(5);
    expect(here.drops.counts().manifest).toBe(1);
    here.behave(null);
    await here.minutes(6);
    expect(await here.bodies("manifests/nodea")).toHaveLength(1);
  });

  test("name jobs, DAGs, and the scopes that jobs and DAG tasks may write to, sorted and once", () => {
    const job = jobConfig({ name: "b", launch: { stateAllowedScopes: ["team"] } });
    const task: DagTaskConfig = {
      ...dagTask,
      job: jobConfig({ name: "etl.load", launch: { stateAllowedScopes: ["warehouse", "team"] } }),
    };
    const config = { ...configOf([job, jobConfig({ name: "a" })]), dags: [dag([task, { ...dagTask, job: null }])] };
    expect(manifestRecord.encode({ ...configuredBy(config, "v1:1"), host: "nodea", at: NOON })).toMatchObject({
      dags: ["etl"],
      jobs: ["a", "b"],
      scopes: ["global", "team", "warehouse"],
    });
  });

  test("of builds that do not tell scopes and DAGs are read all the same", () => {
    expect(manifestRecord.decode({ at: "2026-11-30T12:00:00Z", host: "nodeb", jobs: ["x"] })).toMatchObject({
      value: { scopes: null, dags: null, jobs: ["x"], jobSetId: null },
    });
    expect(manifestRecord.decode({ at: "2026-11-30T12:00:00Z", jobs: "x" }).kind).toBe("damaged");
  });
});

describe("state 17: a pass", () => {
  /** A store with ten days of manifests, and things of ten days ago that nobody has any more beside things somebody has. */
  async function store() {
    const bench = journalBench();
    const row = runRecord.encode(ran(NOON));
    for (const stream of [
      "runs/backup",
      "runs/gone",
      "inflight/gone",
      "meta",
      "cluster/reboot-ran",
      "counters/oldhost",
      "missed/gone",
      "artifacts/gone",
      "artifacts/global",
    ])
      await bench.put(
        stream,
        stream.startsWith("artifacts") ? { at: 1, name: "n", sha256: "a".repeat(64), size: 1 } : row,
      );
    await bench.put(
      "paused/backup",
      pauseRecord.encode({
        kind: "paused",
        since: NOON,
        until: NOON + hour,
        note: "",
        by: "",
        channel: "api",
        host: "nodea",
        at: NOON,
      }),
    );
    await bench.put(
      "paused/held",
      pauseRecord.encode({
        kind: "paused",
        since: NOON,
        until: NOON + 90 * day,
        note: "",
        by: "",
        channel: "api",
        host: "nodea",
        at: NOON,
      }),
    );
    await bench.put("manifests/nodea", manifestRecord.encode({ ...own, jobs: ["backup", "gone"], at: NOON }));
    await bench.pass(10 * day);
    await bench.put("manifests/nodea", manifestRecord.encode({ ...own, at: bench.clock.wallNow() }));
    const collect = (over: Partial<CollectionRequest> = {}) =>
      collectGarbage(bench, { own, graceSeconds: (7 * day) / 1000, dryRun: false, runs: () => false, ...over });
    const names = async (): Promise<readonly string[]> => {
      const found = await bench.store.records.streams("");
      return found.kind === "done" ? found.value.names : [];
    };
    return { ...bench, collect, names };
  }

  test("GC-2: deletes streams of jobs and hosts nobody has, and nothing else", async () => {
    const here = await store();
    expect(await here.collect()).toMatchObject({
      kind: "done",
      keptStreams: 6,
      streams: [
        { name: "artifacts/gone", records: 1 },
        { name: "counters/oldhost", records: 1 },
        { name: "inflight/gone", records: 1 },
        { name: "missed/gone", records: 1 },
        { name: "paused/backup", records: 1 },
        { name: "runs/gone", records: 1 },
      ],
    });
    expect(await here.names()).toEqual([
      "artifacts/global",
      "cluster/reboot-ran",
      "manifests/nodea",
      "meta",
      "paused/held",
      "runs/backup",
    ]);
    expect(here.logged.at(-1)).toContain("garbage collection removed 6 stream(s) (6 record(s))");
  });

  test("a dry run counts the same and changes nothing", async () => {
    const here = await store();
    const payload = await here.store.blobs.put(new TextEncoder().encode("only in artifacts/gone"));
    await here.put("artifacts/gone", {
      at: 1,
      name: "n",
      sha256: payload.kind === "done" ? payload.value : "",
      size: 1,
    });
    await here.pass(10 * day);
    await here.put("manifests/nodea", manifestRecord.encode({ ...own, at: here.clock.wallNow() }));
    const before = await here.names();
    const dry = await here.collect({ dryRun: true });
    expect(await here.names()).toEqual(before);
    expect(dry).toMatchObject({ blobs: { kind: "swept", count: 1 } });
    expect(await here.collect()).toEqual(dry);
  });

  test("GC-2: a stream with a young record stays, whoever has it", async () => {
    const here = await store();
    await here.put("runs/gone", runRecord.encode(ran(NOON)));
    await here.collect();
    expect(await here.names()).toContain("runs/gone");
  });

  test("GC-9: a peer's recent manifest protects, an old one does not", async () => {
    const here = await store();
    await here.put(
      "manifests/nodeb",
      manifestRecord.encode({ ...own, host: "nodeb", jobs: ["gone"], at: here.clock.wallNow() - 6 * day }),
    );
    await here.collect();
    expect(await here.names()).toContain("runs/gone");
    await here.pass(2 * day);
    await here.collect();
    expect(await here.names()).not.toContain("runs/gone");
  });

  test("GC-8: a fresh store collects nothing", async () => {
    const bench = journalBench();
    await bench.put("runs/gone", runRecord.encode(ran(NOON)));
    expect(await collectGarbage(bench, { own, graceSeconds: 86_400, dryRun: false, runs: null })).toEqual({
      kind: "deferred",
    });
    expect(bench.logged).toEqual([
      "INFO state: garbage collection deferred: the manifest history does not yet span gcGraceSeconds, so absence cannot be proven",
    ]);
  });

  test.each<[string, (here: Awaited<ReturnType<typeof store>>) => void | Promise<void>]>([
    ["streams cannot be listed", (here) => here.behave(failing("streamNames"))],
    ["manifests cannot be read", (here) => here.behave(failing("listRecords"))],
    ["a manifest cannot be understood", (here) => here.put("manifests/nodeb", { at: "2026-11-30T12:00:00Z", jobs: 7 })],
  ])("the pass is given up when %s", async (_, arrange) => {
    const here = await store();
    await arrange(here);
    expect(await here.collect()).toMatchObject({ kind: "given up" });
    here.behave(null);
    expect(await here.names()).toContain("runs/gone");
  });

  test("GC-4: artifacts stay while one recent manifest does not tell its scopes", async () => {
    const here = await store();
    await here.put("manifests/nodeb", { at: "2026-12-10T11:00:00+00:00", host: "nodeb", jobs: [] });
    await here.collect();
    expect(await here.names()).toContain("artifacts/gone");
    expect(await here.names()).not.toContain("runs/gone");
  });

  test("GC-4: a pause that cannot be understood is one that may hold", async () => {
    const here = await store();
    await here.put("paused/odd", { kind: "frozen" });
    await here.pass(8 * day);
    await here.put("manifests/nodea", manifestRecord.encode({ ...own, at: here.clock.wallNow() }));
    await here.collect();
    expect(await here.names()).toContain("paused/odd");
  });

  describe("GC-3: run documents and their artifacts", () => {
    const putRun = async (
      here: Awaited<ReturnType<typeof store>>,
      dag: string,
      key: string,
      body: JsonObject,
    ): Promise<void> => {
      const updatedAt = NOON / 1000 + 0.5;
      await here.store.documents.mutate(`dagrun/${dag}`, key, () => ({
        kind: "put",
        body: { runId: key, state: "success", updatedAt, ...body },
        answer: null,
      }));
    };
    const artifact = { at: 1, name: "n", sha256: "b".repeat(64), size: 1 };
    const keys = async (here: Awaited<ReturnType<typeof store>>, dag: string): Promise<readonly string[]> => {
      const found = await here.store.documents.keys(`dagrun/${dag}`);
      return found.kind === "done" ? found.value.names : [];
    };

    /** As if everything had been there for ten days. */
    async function aged() {
      const here = await store();
      await putRun(here, "old-dag", "r1", {});
      await putRun(here, "old-dag", "r2", { state: "running" });
      await putRun(here, "etl", "r3", {});
      for (const scope of ["dagxcom/old-dag/r1", "dagxcom/old-dag/r2", "dagxcom/etl/r3", "dagxcom/etl/pruned"])
        await here.put(`artifacts/${scope}`, artifact);
      await here.pass(10 * day);
      await here.put("manifests/nodea", manifestRecord.encode({ ...own, at: here.clock.wallNow() }));
      return here;
    }

    test("a run whose lease somebody holds is left to the next pass, and what it stands for with it (D-GC-7)", async () => {
      const here = await aged();
      await here.store.leases.acquire("dagadvance/old-dag/r1", "b#0123456789ab", 60_000);
      await here.collect({ runs: () => false });
      expect(await keys(here, "old-dag")).toEqual(["r1", "r2"]);
      expect(await here.names()).toContain("artifacts/dagxcom/old-dag/r1");
      await here.pass(61_000);
      await here.collect({ runs: () => false });
      expect(await keys(here, "old-dag")).toEqual(["r2"]);
    });

    test("terminal runs of a DAG that is gone go, and then what only they kept (D-GC-1)", async () => {
      const here = await aged();
      expect(await here.collect()).toMatchObject({ kind: "done", runs: 1 });
      expect([await keys(here, "old-dag"), await keys(here, "etl")]).toEqual([["r2"], ["r3"]]);
      expect((await here.names()).filter((name) => name.startsWith("artifacts/dagxcom"))).toEqual([
        "artifacts/dagxcom/etl/r3",
        "artifacts/dagxcom/old-dag/r2",
      ]);
    });

    test("a run this node advances stays, and the command line leaves them all (D-GC-2)", async () => {
      const here = await aged();
      await here.collect({ runs: (dag) => dag === "old-dag" });
      await here.collect({ runs: null });
      expect(await keys(here, "old-dag")).toEqual(["r1", "r2"]);
      expect(await here.names()).toContain("artifacts/dagxcom/old-dag/r1");
    });

    test("GC-4, D-GC-4: a document that cannot be read keeps all artifacts", async () => {
      const here = await aged();
      here.behave(failing("readDocument"));
      expect(await here.collect()).toMatchObject({ kind: "done", runs: 0 });
      expect((await here.names()).filter((name) => name.startsWith("artifacts/dagxcom"))).toHaveLength(4);
    });
  });

  test("GC-4, D-GC-5: the blob sweep stands down when an artifact does not name its payload, and says why", async () => {
    const here = await store();
    await here.put("artifacts/global", { at: 1, name: "odd" });
    expect(await here.collect()).toMatchObject({
      blobs: { kind: "stood down", because: "an artifact of scope global does not name its payload" },
    });
    expect(here.logged.at(-1)).toContain("no blobs (an artifact of scope global does not name its payload)");
  });

  test("GC-3, D-GC-5: payloads nobody refers to go when they are older than the grace", async () => {
    const here = await store();
    const put = await here.store.blobs.put(new TextEncoder().encode("orphan"));
    await here.collect();
    const sha256 = put.kind === "done" ? put.value : "";
    expect(await here.store.blobs.get(sha256)).toMatchObject({ kind: "done", value: expect.anything() });
    await here.pass(8 * day);
    expect(await here.collect()).toMatchObject({ blobs: { kind: "swept", count: 1 } });
  });

  test("GC-6: leftovers of writes go after a day, what was put aside and idle locks after the grace (DOC-3)", async () => {
    const here = await store();
    const asked: unknown[] = [];
    const tidied = { temporaries: 3, quarantined: 2, locks: 1 };
    const upkeep: Store["upkeep"] = {
      ...here.store.upkeep,
      async tidy(cutoffs) {
        asked.push(cutoffs);
        return { kind: "done", value: tidied };
      },
    };
    const backend = (): Store => ({ ...here.store, upkeep });
    const request = { own, graceSeconds: (7 * day) / 1000, dryRun: false, runs: null };
    expect(await collectGarbage({ ...here, backend }, request)).toMatchObject({ kind: "done", tidied });
    const now = here.clock.wallNow() / 1000;
    expect(asked).toEqual([
      {
        temporariesBeforeSeconds: now - 86_400,
        quarantinedBeforeSeconds: now - 7 * 86_400,
        locksBeforeSeconds: now - 7 * 86_400,
      },
    ]);
  });

  test("GC-5, D-GC-6: of leases only those of single DAG runs go, and only long dead; GC-3: lapsed idempotency keys go, permanent ones stay", async () => {
    const here = await store();
    for (const name of ["dagadvance/etl/r1", "slots/gone", "retry-claim/gone"])
      await here.store.leases.acquire(name, "h#1", 30_000);
    for (const [key, body] of [
      ["lapsed", { key: "lapsed", expiresAt: NOON / 1000 + 0.5 }],
      ["permanent", { key: "permanent" }],
    ] as const)
      await here.store.documents.mutate("idem/gone", key, () => ({ kind: "put", body, answer: null }));
    expect(await here.collect()).toMatchObject({ leases: 0, idempotencyKeys: 1 });
    await here.pass(8 * day);
    await here.put("manifests/nodea", manifestRecord.encode({ ...own, at: here.clock.wallNow() }));
    expect(await here.collect()).toMatchObject({ leases: 1 });
    expect(await here.store.leases.read("slots/gone")).toMatchObject({ value: { fence: 1 } });
    expect(await here.store.documents.keys("idem/gone")).toMatchObject({ value: { names: ["permanent"] } });
  });
});

describe("GC-1: once a day", () => {
  const request = { own, graceSeconds: 7 * 86_400, runs: null };

  test("the first pass on the first minute, the next a day later; none without a backend or with a grace of 0", async () => {
    const bench = journalBench();
    const collector = createCollector(bench);
    bench.unplug();
    expect(await collector.minute(() => request)).toBeNull();
    bench.plugIn();
    expect(await collector.minute(() => ({ ...request, graceSeconds: 0 }))).toBeNull();
    expect(await collector.minute(() => request)).toEqual({ kind: "deferred" });
    await bench.pass(day - 1);
    expect(await collector.minute(() => request)).toBeNull();
    await bench.pass(1);
    expect(await collector.minute(() => request)).toEqual({ kind: "deferred" });
  });

  test("one that is given up says so", async () => {
    const bench = journalBench();
    bench.behave(failing());
    await createCollector(bench).minute(() => request);
    expect(bench.logged).toEqual([
      "WARNING state: garbage collection given up: the disk is full; the next pass is in a day",
    ]);
  });
});

const dagTask: DagTaskConfig = {
  id: "load",
  type: "task",
  dependsOn: [],
  triggerRule: "all_success",
  retries: 0,
  retryDelaySeconds: 0,
  expand: null,
  pokeIntervalSeconds: 30,
  pokeTimeoutSeconds: 3600,
  pokeJitterSeconds: 0,
  onReject: "fail",
  job: null,
};

function dag(tasks: readonly DagTaskConfig[]): DagConfig {
  return {
    name: "etl",
    place: { file: "test.yaml", line: 1, column: 1 },
    tasks,
    scheduleText: null,
    timing: null,
    utc: true,
    timezone: null,
    onMissed: "skip",
    startingDeadlineSeconds: null,
    catchupJitterSeconds: 0,
    clusterPolicy: "Leader",
    enabled: true,
    retainRuns: 100,
  };
}

import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import { collectGarbage, type Removed } from "../../../src/store/admin/collect-garbage.ts";
import type { Uses } from "../../../src/store/admin/what-to-keep.ts";
import type { Operation } from "../../../src/store/engine.ts";
import { jsonFloat } from "../../../src/store/json.ts";
import { memoryMedium } from "../../../src/store/memory/medium.ts";
import { type Conduct, openMemoryStore } from "../../../src/store/memory/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { openedStore } from "../support/filesystem.ts";
import { done } from "../support/outcome.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const day = 86_400;
const own: Uses = { host: "here", jobs: ["kept"], scopes: ["global"], dags: ["kept"] };

/** A store in memory on which days pass. */
function simulatedStore(conduct?: (operation: Operation) => Conduct) {
  const clock = simulatedClock(Date.parse("2026-01-01T00:00:00Z"));
  const store = openMemoryStore({ medium: memoryMedium(), clock, writer: "aaaaaaaaaaaa", ...(conduct && { conduct }) });
  const now = (): number => clock.wallNow() / 1000;
  return {
    store,
    now,
    days: (count: number) => clock.runUntil(clock.wallNow() + count * day * 1000),
    manifest: (uses: Partial<Uses> = {}) =>
      done(
        store.records.append(`manifests/${uses.host ?? "here"}`, {
          at: new Date(clock.wallNow()).toISOString().replace("Z", "000+00:00"),
          host: uses.host ?? "here",
          jobs: uses.jobs ?? own.jobs,
          ...(uses.scopes !== null && { scopes: uses.scopes ?? own.scopes ?? [] }),
          ...(uses.dags !== null && { dags: uses.dags ?? own.dags ?? [] }),
        }),
      ),
    collect: async (dryRun = false): Promise<Removed | string> => {
      const options = { own, graceSeconds: 7 * day, nowSeconds: now(), dryRun, removeRunDocuments: true };
      const collection = await collectGarbage(store, options);
      return collection.kind === "done" ? collection.removed : collection.kind;
    },
  };
}

async function publish(store: Store, scope: string, name: string, text: string): Promise<string> {
  const sha256 = await done(store.blobs.put(Buffer.from(text)));
  await done(
    store.records.publish(`artifacts/${scope}`, "name", { name, sha256, size: text.length, at: jsonFloat(1) }),
  );
  return sha256;
}

async function run(store: Store, dag: string, runId: string, state: string, updatedAt: number): Promise<void> {
  await done(store.documents.swap(`dagrun/${dag}`, runId, null, { runId, state, updatedAt: jsonFloat(updatedAt) }));
  await publish(store, `dagxcom/${dag}/${runId}`, "task/key", `${dag} ${runId}`);
}

describe("one pass of garbage collection", () => {
  test("of a fresh store deletes nothing (GC-8)", async () => {
    const { store, days, manifest, collect } = simulatedStore();
    await done(store.records.append("runs/removed", {}));
    await manifest();
    days(6);
    await manifest();
    expect(await collect()).toBe("deferred");
  });

  test("deletes what is of no use to anybody and has been so for the grace; the dry run says the same and changes nothing", async () => {
    const { store, now, days, manifest, collect } = simulatedStore();
    for (const stream of [
      "runs/kept",
      "runs/removed",
      "logs/removed",
      "runs/theirs",
      "counters/gone",
      "odd/removed",
      "meta",
    ])
      for (let n = 0; n < 3; n++) await done(store.records.append(stream, { n }));
    await publish(store, "removed", "report", "unreferenced soon");
    const wanted = await publish(store, "kept", "report", "wanted");
    const unreferenced = await done(store.blobs.put(Buffer.from("nobody's")));
    await run(store, "kept", "r1", "success", now());
    await run(store, "removed", "r2", "success", now());
    await run(store, "removed", "r3", "running", now());
    await done(store.documents.swap("idem/kept", "lapsed", null, { expiresAt: jsonFloat(now() + 60) }));
    await done(store.documents.swap("idem/kept", "permanent", null, { claimedAt: jsonFloat(now()) }));
    await done(store.documents.swap("kv/removed", "k", null, { updatedAt: jsonFloat(1) }));
    for (const name of ["dagadvance/kept/r1", "slots/removed", "lock/removed/x#0", "retry-claim/removed"])
      await done(store.leases.acquire(name, "h#1", 5000));
    await manifest();
    await manifest({ host: "there", jobs: ["theirs"] });
    days(8);
    await manifest();
    await manifest({ host: "there", jobs: ["theirs"] });
    const recent = await done(store.blobs.put(Buffer.from("just stored")));

    const expected = {
      streams: ["artifacts/dagxcom/removed/r2", "artifacts/removed", "counters/gone", "logs/removed", "runs/removed"],
      records: 11,
      runDocuments: 1,
      expiredClaims: 1,
      leases: 1,
      blobs: { kind: "swept", blobs: 3 },
    };
    const before = await done(store.upkeep.inventory());
    expect(await collect(true)).toMatchObject(expected);
    expect(await done(store.upkeep.inventory())).toEqual(before);
    expect(await collect()).toMatchObject({ ...expected, keptStreams: before.streams.length - 5 });

    expect((await done(store.documents.keys("idem/kept"))).names).toEqual(["permanent"]);
    expect((await done(store.documents.keys("kv/removed"))).names).toEqual(["k"]);
    expect((await done(store.documents.keys("dagrun/removed"))).names).toEqual(["r3"]);
    expect(await done(store.blobs.get(wanted))).not.toBeNull();
    expect(await done(store.blobs.get(recent))).not.toBeNull();
    expect(await done(store.blobs.get(unreferenced))).toBeNull();
    for (const name of ["slots/removed", "lock/removed/x#0", "retry-claim/removed"])
      expect(await done(store.leases.acquire(name, "other#1", 5000)), name).toMatchObject({ lease: { fence: 2 } });
    expect(await collect()).toMatchObject({ streams: [], records: 0, runDocuments: 0, expiredClaims: 0, leases: 0 });
  });

  test("keeps a stream that is still written although nobody names its job", async () => {
    const { store, days, manifest, collect } = simulatedStore();
    await done(store.records.append("runs/removed", {}));
    await manifest();
    days(8);
    await manifest();
    await done(store.records.append("runs/removed", {}));
    expect(await collect()).toMatchObject({ streams: [] });
  });

  test("leaves artifacts alone while one recent manifest says nothing of scopes (GC-4)", async () => {
    const { store, days, manifest, collect } = simulatedStore();
    await publish(store, "removed", "report", "x");
    await manifest();
    days(8);
    await manifest({ host: "older build", scopes: null });
    expect(await collect()).toMatchObject({ streams: [], blobs: { kind: "swept", blobs: 0 } });
  });

  test("leaves run data alone when a run cannot be read", async () => {
    let broken = false;
    const fail = { kind: "fail", message: "EIO" } as const;
    const { store, now, days, manifest, collect } = simulatedStore((operation) =>
      broken && operation === "readDocument" ? fail : { kind: "answer" },
    );
    await run(store, "removed", "r1", "success", now());
    await publish(store, "removed", "report", "x");
    await manifest();
    days(8);
    await manifest();
    broken = true;
    expect(await collect()).toMatchObject({ streams: [], runDocuments: 0 });
    broken = false;
    expect(await collect()).toMatchObject({ streams: ["artifacts/dagxcom/removed/r1", "artifacts/removed"] });
  });

  test("keeps every blob when an artifact record cannot be read, and says why", async () => {
    let reads = Number.POSITIVE_INFINITY;
    const { store, days, manifest, collect } = simulatedStore((operation) =>
      operation === "listRecords" && reads-- <= 0 ? { kind: "fail", message: "EIO: cannot read" } : { kind: "answer" },
    );
    await publish(store, "kept", "report", "x");
    await done(store.blobs.put(Buffer.from("nobody's")));
    await manifest();
    days(8);
    await manifest();
    reads = 1; // the manifests
    expect(await collect()).toMatchObject({
      blobs: { kind: "skipped", because: "artifacts/kept: EIO: cannot read" },
    });
  });

  test("gives up when it cannot read the manifests", async () => {
    const { manifest, days, collect } = simulatedStore((operation) =>
      operation === "listRecords" ? { kind: "fail", message: "EIO" } : { kind: "answer" },
    );
    await manifest();
    days(8);
    await manifest();
    expect(await collect()).toBe("given up");
  });
});

describe("on a file system", () => {
  test("temporary files, records put aside and idle locks go when they are old; what is in use stays (GC-5, GC-6)", async () => {
    const path = temporaryDirectory();
    const base = join(path, "default");
    const store = await openedStore(path);
    const nowSeconds = Date.now() / 1000;
    const aged = (file: string, ageDays: number): void => {
      writeFileSync(join(base, file), "\0", { flag: "a" });
      utimesSync(join(base, file), nowSeconds - ageDays * day, nowSeconds - ageDays * day);
    };
    await done(store.documents.swap("kv/a", "live", null, {}));
    await done(store.documents.swap("kv/a", "gone", null, {}));
    const { version } = await done(store.documents.read("kv/a", "gone"));
    await done(store.documents.swap("kv/a", "gone", version, null));
    await done(store.leases.acquire("slots/a", "h#1", 1));
    aged("tmp/w-old-1.tmp", 2);
    aged("tmp/w-new-1.tmp", 0.5);
    aged("quarantine/old.json.x.bad", 8);
    aged("quarantine/new.json.x.bad", 1);
    aged("docs/kv%2Fa/gone.lock", 8);
    aged("docs/kv%2Fa/live.lock", 8);
    aged("leases/bare.lock", 8);
    aged("leases/slots%2Fa.lock", 8);
    const inode = statSync(join(base, "leases/slots%2Fa.lock")).ino;
    const manifest = {
      at: new Date((nowSeconds - 8 * day) * 1000).toISOString(),
      host: "here",
      jobs: [],
      scopes: [],
      dags: [],
    };
    await done(store.records.append("manifests/here", manifest));

    const options = { own, graceSeconds: 7 * day, nowSeconds, removeRunDocuments: false };
    const swept = { temporaries: 1, quarantined: 1, locks: 2 };
    expect(await collectGarbage(store, { ...options, dryRun: true })).toMatchObject({ kind: "done", removed: swept });
    expect(await collectGarbage(store, { ...options, dryRun: false })).toMatchObject({ kind: "done", removed: swept });
    expect(readdirSync(join(base, "tmp"))).toEqual(["w-new-1.tmp"]);
    expect(readdirSync(join(base, "quarantine"))).toEqual(["new.json.x.bad"]);
    expect(readdirSync(join(base, "docs/kv%2Fa"))).toEqual(["live.doc", "live.lock"]);
    expect(readdirSync(join(base, "leases"))).toEqual(["slots%2Fa.lease", "slots%2Fa.lock"]);
    expect(statSync(join(base, "leases/slots%2Fa.lock")).ino).toBe(inode); // F62
    expect(readFileSync(join(base, "leases/slots%2Fa.lease"), "utf8")).toContain('"fence":1');
  });

  test("a stream directory nobody can name keeps blobs and is kept (GC-4, GC-7)", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    const nowSeconds = Date.now() / 1000 + 100 * day;
    const long = `artifacts/${"x".repeat(200)}`;
    await done(store.records.append(long, { name: "n", sha256: await done(store.blobs.put(Buffer.from("x"))) }));
    await done(
      store.records.append("manifests/here", {
        at: "2026-01-01T00:00:00Z",
        host: "here",
        jobs: [],
        scopes: [],
        dags: [],
      }),
    );
    const records = join(path, "default/records");
    const token = readdirSync(records).find((name) => name.includes("%.")) ?? "";
    writeFileSync(join(records, token, "stream-name.txt"), "another name");
    const options = { own, graceSeconds: 7 * day, nowSeconds, dryRun: false, removeRunDocuments: false };
    expect(await collectGarbage(store, options)).toMatchObject({
      kind: "done",
      removed: { streams: [], blobs: { kind: "skipped", because: "an artifact stream cannot be named" } },
    });
    expect(readdirSync(records)).toContain(token);
  });
});

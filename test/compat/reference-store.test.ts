import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JsonFloat, type JsonObject, type JsonValue } from "../../src/store/json.ts";
import type { Names, Store } from "../../src/store/store.ts";
import { openedStore, openStore, writtenLog } from "../store/support/filesystem.ts";
import { done, failure } from "../store/support/outcome.ts";
import { referenceStore, type Sample, unpackedReferenceStore } from "./reference-store.ts";
import { checkStore } from "./store-checker.ts";

const newestFirst = { order: "newest first", limit: 1000, reading: "tolerant" } as const;

async function all(store: Store, stream: string): Promise<readonly JsonObject[]> {
  return (await done(store.records.list(stream, newestFirst))).map(({ data }) => data);
}

async function newest(store: Store, stream: string): Promise<JsonObject | undefined> {
  return (await all(store, stream))[0];
}

/** Every stream read strictly, every document, lease and blob reference: counts. */
async function census(store: Store): Promise<Record<string, number>> {
  const { names } = await done(store.records.streams(""));
  const lists = await Promise.all(
    names.map((stream) => done(store.records.list(stream, { ...newestFirst, reading: "strict" }))),
  );
  const spaces = await done(store.documents.namespaces(""));
  const documents = await Promise.all(spaces.names.map((namespace) => done(store.documents.list(namespace))));
  return { streams: names.length, records: lists.flat().length, documents: documents.flat().length };
}

describe("the store of one node, after a crash, a restart and a clean stop", () => {
  let store: Store;
  let sample: Sample;
  beforeAll(async () => {
    sample = unpackedReferenceStore();
    store = await openStore(join(sample.path, "store"), { deploymentId: "Demo.App" });
  });
  afterAll(async () => {
    await store.close(1000);
    sample.remove();
  });

  test("is found whole", async () => {
    expect(await census(store)).toEqual({ streams: 47, records: 197, documents: 19 });
    const { names, complete }: Names = await done(store.records.streams("runs/"));
    expect(complete).toBe(true);
    expect(names).toEqual(expect.arrayContaining(["runs/Flaky Job/1", "runs/naïve ünïcödé", "runs/nul"]));
    expect(names.filter((name) => name.length > 130)).toHaveLength(1);
    expect(await done(store.leases.list())).toEqual([]);
  });

  test("has the watermarks it should have", async () => {
    const at = (job: string, field = "finished_at") => done(store.records.max(`runs/${job}`, field));
    expect(await at("missed")).toBe("2026-11-30T09:31:00.022635+00:00");
    expect(await at("slow")).toBe("2026-11-30T09:27:05.733415+00:00");
    expect(await at("slow-once")).toBeNull();
    expect(await at("paused-job")).toBe("2026-11-30T09:31:00.018938+00:00");
    expect(await at("paused-job", "ranAt")).toBeNull();
  });

  test("tells its reconciled and cancelled runs, checkpoints, retries and pauses", async () => {
    expect(await newest(store, "runs/slow")).toMatchObject({ outcome: "unknown", finished_at: expect.any(String) });
    const once = await newest(store, "runs/slow-once");
    expect(once).toMatchObject({ outcome: "unknown", interruptedAt: expect.any(String) });
    expect(once).not.toHaveProperty("finished_at");
    expect(await newest(store, "runs/cancel-me")).toMatchObject({ outcome: "cancelled" });

    expect(await all(store, "catchup/missed")).toMatchObject([
      { kind: "close" },
      { kind: "open", watermark: "2026-11-30T09:27:00.023896+00:00" },
    ]);
    expect(await all(store, "catchup-dag/tick")).toMatchObject([
      { kind: "close" },
      { kind: "open", watermark: "2026-11-30T09:27:00+00:00" },
    ]);

    expect(await newest(store, "retries/Flaky Job/1")).toMatchObject({ kind: "pending", attempt: 3 });
    expect(await newest(store, "retries/exhaust")).toMatchObject({ kind: "settled", reason: "exhausted" });
    expect(await newest(store, "retries/second-time-lucky")).toMatchObject({ kind: "settled", reason: "succeeded" });
    const edited = await all(store, "retries/edited");
    expect(edited.slice(0, 3)).toMatchObject([
      { kind: "pending", jobDigest: expect.stringMatching(/^008c1f1a/) },
      { kind: "settled", reason: "config-changed" },
      { kind: "pending" },
    ]);

    expect(await newest(store, "paused/nul")).toMatchObject({ kind: "resumed" });
    expect(await newest(store, "paused/paused-job")).toMatchObject({
      kind: "paused",
      until: "2026-12-01T09:24:09.032713+00:00",
    });
    const digests = (await all(store, "manifests/nodea")).map(({ jobSetId }) => String(jobSetId).slice(0, 11));
    expect(new Set(digests)).toEqual(new Set(["v1:6c47029d", "v1:16d47783"]));
  });

  test("gives its documents with every digit", async () => {
    const value = async (namespace: string, key: string): Promise<JsonValue | undefined> =>
      (await done(store.documents.read(namespace, key))).body?.value;
    expect((await done(store.documents.keys("kv/state-user"))).names).toEqual(["config", "last-cursor", "nothing"]);
    expect(await value("kv/state-user", "config")).toEqual({
      big: 9007199254740993n,
      e: new JsonFloat(1e16),
      f: new JsonFloat(1),
      n: 3,
      s: "é",
      u64: 18446744073709551615n,
    });
    expect(await value("kv/state-user", "nothing")).toBeNull();
    expect(await value("kv/global", "Shared.Key")).toBeDefined();
    expect(await value("kv/team", "team-key")).toBeDefined();
    expect(await value("cursor/state-user", "watermark")).toBe(10);
    expect(await value("cursor/state-user", "iso")).toBe("2026-06");
    expect(await value("cursor/state-user", "fl")).toBe(1.5);
    expect((await done(store.documents.keys("idem/state-user"))).names).toEqual(["charge-1", "charge-ttl"]);
    expect(await done(store.documents.list("dagrun/etl"))).toMatchObject([{ state: "running" }]);
    expect(await done(store.documents.list("dagrun/tick"))).toHaveLength(6);
    expect(await done(store.documents.list("pushdevice"))).toHaveLength(1);
    expect(await done(store.documents.read("pushmeta", "collapse"))).toMatchObject({
      body: { salt: expect.any(String) },
    });
  });

  test("a document written again without a change has the bytes the reference gave it", async () => {
    const docs = join(sample.path, "store", "%44emo%2E%41pp", "docs");
    for (const namespace of ["kv/state-user", "kv/global", "cursor/state-user", "idem/state-user", "dagrun/tick"]) {
      const { names } = await done(store.documents.keys(namespace));
      for (const key of names) {
        const file = join(docs, encodeURIComponent(namespace), `${fileToken(docs, namespace, key)}.doc`);
        const before = readFileSync(file, "utf8");
        await done(store.documents.mutate(namespace, key, (body) => ({ kind: "put", body: body ?? {}, answer: 0 })));
        expect(readFileSync(file, "utf8")).toBe(before);
      }
    }
  });

  test("gives its artifacts and their payloads", async () => {
    expect(await all(store, "artifacts/state-user")).toHaveLength(2);
    const [report] = await done(
      store.records.newestByKey("artifacts/state-user", "name", { key: "report", reading: "strict" }),
    );
    const sha256 = String(report?.data.sha256);
    expect(sha256).toMatch(/^8fbd2641/);
    expect(Buffer.from((await done(store.blobs.get(sha256))) ?? []).toString()).toBe("payload-2\n");
    for (const { sha256: blob } of await all(store, "artifacts/state-user"))
      expect(await done(store.blobs.get(String(blob)))).not.toBeNull();
  });

  test("goes on with the fence of its released lease", async () => {
    expect(await done(store.leases.acquire("slots/cluster-forbid", "nodea#0", 5000))).toMatchObject({
      kind: "held",
      lease: { fence: 6 },
    });
  });
});

/** File token of a key among the documents of a namespace, by what the documents say their key is. */
function fileToken(docs: string, namespace: string, key: string): string {
  const directory = join(docs, encodeURIComponent(namespace));
  const token = readdirSync(directory).find(
    (file) => file.endsWith(".doc") && decodeURIComponent(file.slice(0, -4)) === key,
  );
  return (token ?? "").replace(/\.doc$/, "");
}

test("the store an instant after kill -9 has its open runs and pending retries", async () => {
  const store = await openedStore(join(referenceStore(), "crashed-store"), { deploymentId: "Demo.App" });
  expect(await newest(store, "inflight/slow")).toMatchObject({ kind: "open", pid: 7922 });
  expect(await newest(store, "inflight/slow-once")).toMatchObject({ kind: "open", pid: 7925 });
  expect(await newest(store, "retries/Flaky Job/1")).toMatchObject({ kind: "pending", attempt: 3 });
  expect(await newest(store, "retries/edited")).toMatchObject({ kind: "pending", attempt: 1 });
  expect((await done(store.records.streams("catchup"))).names).toEqual([]);
  expect(await done(store.records.max("runs/missed", "finished_at"))).toBe("2026-11-30T09:27:00.023896+00:00");
});

test("the store of two nodes with an election has what both wrote", async () => {
  const store = await openedStore(join(referenceStore(), "store"));
  expect(await census(store)).toMatchObject({ streams: 14, records: 45 });
  expect(await newest(store, "slots/repl")).toMatchObject({ kind: "cancel", fence: 1 });
  const retries = await all(store, "retries/flaky");
  expect(retries.some((record) => "claimedFrom" in record)).toBe(true);
  expect(retries[0]).toMatchObject({ kind: "pending", attempt: 1 });
  expect(await all(store, "cluster/reboot-ran")).toHaveLength(1);
  expect((await all(store, "runs/flaky")).map(({ outcome }) => outcome)).toEqual(Array(5).fill("failure"));
  const fences = { "cluster/leader": 3, "retry-claim/flaky": 5, "slots/repl": 2 };
  for (const [name, fence] of Object.entries(fences))
    expect(await done(store.leases.acquire(name, "x#0", 5000)), name).toMatchObject({ lease: { fence: fence + 1 } });
});

describe("hostile files", () => {
  let store: Store;
  let sample: Sample;
  let base: string;
  const { lines, log } = writtenLog();
  beforeAll(async () => {
    sample = unpackedReferenceStore();
    base = join(sample.path, "store/poison");
    store = await openStore(join(sample.path, "store"), { deploymentId: "poison", log });
  });
  afterAll(async () => {
    await store.close(1000);
    sample.remove();
  });

  test("are put aside one by one, and everything else is served (QUA-1, X1, QUA-3)", async () => {
    await failure(store.records.max("runs/victim", "finished_at"), "unreadable");
    expect((await all(store, "runs/victim")).map(({ outcome, finished_at }) => [outcome, finished_at])).toEqual([
      ["success", "2026-11-30T09:05:00+00:00"],
      ["skipped", "2026-11-30T09:26:00+00:00"],
      ["success", "2026-11-30T09:10:00.000001+00:00"],
      ["failure", "2026-11-30T09:25:00.500000+00:00"],
      ["success", "2026-11-30T09:20:00+00:00"],
    ]);
    const aside = readdirSync(join(base, "quarantine")).map((name) => Number(name.slice(34, 46)));
    expect(aside.sort()).toEqual([2, 3, 4, 5, 6, 8]);
    expect(readFileSync(join(base, "records/runs%2Fvictim/notes.txt"), "utf8")).toBe("not a record");
    expect(await done(store.records.max("runs/victim", "finished_at"))).toBe("2026-11-30T09:26:00+00:00");
    expect(await done(store.records.max("runs/victim", "ranAt"))).toBe("2026-11-30T09:25:00.500000+00:00");
    const failed = (await all(store, "runs/victim"))[3];
    expect(failed).toMatchObject({ note: "café 😀", duration: new JsonFloat(1e16), future_field: { x: 1 } });
    const quarantines = lines.filter((line) => line.includes("quarantined corrupt record"));
    expect(quarantines).toHaveLength(6);
    expect(quarantines.filter((line) => line.endsWith("(unknown-schema)"))).toHaveLength(4);
  });

  test("names that cannot be told make an enumeration incomplete (ENC-6)", async () => {
    const { names, complete } = await done(store.records.streams("runs/"));
    expect(complete).toBe(false);
    expect(names).toEqual(["runs/clean", "runs/victim"]);
    expect(await done(store.records.max("runs/clean", "finished_at"))).toBe("2026-11-30T09:20:00.100000+00:00");
    expect(await newest(store, "retries/handoff-demo")).toMatchObject({ kind: "handoff" });
  });

  test("a stamp of a newer scheme is warned of once and stays (LAY-4)", async () => {
    expect(lines.filter((line) => line.includes("record scheme 'v99' (this build writes 'v1')"))).toEqual([
      `WARNING state: the store at ${base} was last stamped by a build writing record scheme 'v99' (this build writes 'v1'); records this build cannot read are quarantined; consider \`cronstable state migrate-schema\``,
    ]);
    expect(readdirSync(join(base, "records/meta"))).toHaveLength(1);
  });

  test("documents that cannot be understood read as absent and are never overwritten (DOC-2, DOC-4)", async () => {
    expect(await done(store.documents.peek("kv/victim", "good"))).toMatchObject({ key: "good" });
    for (const key of ["torn", "newer"]) {
      const file = join(base, "docs/kv%2Fvictim", `${key}.doc`);
      const before = readFileSync(file, "utf8");
      expect(await done(store.documents.peek("kv/victim", key))).toBeNull();
      await failure(store.documents.read("kv/victim", key), "unreadable");
      const message = await failure(
        store.documents.mutate("kv/victim", key, () => ({ kind: "put", body: {}, answer: 0 })),
        "unreadable",
      );
      expect(message).toMatch(/^document unreadable/);
      await failure(store.documents.swap("kv/victim", key, null, null), "unreadable");
      expect(readFileSync(file, "utf8")).toBe(before);
    }
    expect(await done(store.documents.list("kv/victim"))).toHaveLength(1);
    expect(readdirSync(join(base, "quarantine")).filter((name) => name.includes(".doc"))).toEqual([]);
  });

  test("leases: the unreadable one is nobody's, the expired and released ones go on with their fences (LSE-4)", async () => {
    const acquire = (name: string) => done(store.leases.acquire(`slots/${name}`, "me#1", 5000));
    expect(await acquire("corrupt")).toEqual({ kind: "unreadable" });
    expect(
      lines.some((line) => line.includes("lease slots/corrupt unreadable") && line.endsWith("denying acquire")),
    ).toBe(true);
    expect(await acquire("expired")).toMatchObject({ kind: "held", lease: { fence: 8 } });
    expect(await acquire("released")).toMatchObject({ kind: "held", lease: { fence: 42 } });
    expect(await acquire("held")).toMatchObject({ kind: "denied", by: { holder: "other#ffffffffffff", fence: 3 } });
    expect(await done(store.leases.read("slots/corrupt"))).toBeNull();
  });

  test("artifact records of a newer scheme stay where they are (X1)", async () => {
    const query = { key: "report", reading: "tolerant" } as const;
    const [report] = await done(store.records.newestByKey("artifacts/victim", "name", query));
    expect(Buffer.from((await done(store.blobs.get(String(report?.data.sha256)))) ?? []).toString()).toBe(
      "old payload\n",
    );
    await failure(store.records.newestByKey("artifacts/victim", "name", { ...query, reading: "strict" }), "unreadable");
    await failure(store.records.list("artifacts/victim", { ...newestFirst, reading: "strict" }), "unreadable");
    const gone = await done(store.records.newestByKey("artifacts/victim", "name", { ...query, key: "gone" }));
    expect(await done(store.blobs.get(String(gone[0]?.data.sha256)))).toBeNull();
    expect(readdirSync(join(base, "records/artifacts%2Fvictim"))).toHaveLength(3);
  });
});

describe("the checker of the format", () => {
  test("finds nothing wrong with what the reference wrote", () => {
    const root = referenceStore();
    for (const base of ["store/%44emo%2E%41pp", "store/default", "crashed-store/%44emo%2E%41pp"])
      expect(checkStore(join(root, base))).toEqual([]);
  });

  test("finds what is wrong with the hostile store", () => {
    const wrong = checkStore(join(referenceStore(), "store/poison"));
    expect(wrong.length).toBeGreaterThan(15);
    expect(wrong).toContain("records/runs%2F%zz: an escape is not two upper-case hex digits");
  });
});

test("OPS-7: a store we have worked on stays sound by the format's own rules", async () => {
  const path = join(referenceStore(), "store");
  const base = join(path, "%44emo%2E%41pp");
  const store = await openedStore(path, { deploymentId: "Demo.App" });
  await workOn(store);
  await store.close(5000);
  expect(checkStore(base)).toEqual([]);
});

test("a store we have made is sound by the format's own rules", async () => {
  const path = join(referenceStore(), "new/deeper");
  const store = await openedStore(path, { deploymentId: "My.Own" });
  await workOn(store);
  await store.close(5000);
  expect(checkStore(join(path, "%4Dy%2E%4Fwn"))).toEqual([]);
  expect(existsSync(join(path, "default"))).toBe(false);
  const again = await openedStore(path, { deploymentId: "My.Own" });
  expect(await all(again, "meta")).toEqual([{ storeVersion: "v1" }]);
});

/** Something of everything. */
async function workOn(store: Store): Promise<void> {
  const finished_at = "2026-12-01T00:00:00+00:00";
  for (const job of ["plain", "Upper Case", "con", "naïve 😀", "x".repeat(200), "é".repeat(50)])
    for (let run = 0; run < 12; run++)
      await done(
        store.records.append(`runs/${job}`, { outcome: "success", finished_at, run, duration: 0.5 }, { keep: 5 }),
      );
  for (let v = 0; v < 10; v++) {
    const sha256 = await done(store.blobs.put(createHash("sha512").update(`${v}`).digest()));
    await done(store.records.publish("artifacts/plain", "name", { name: "report", sha256, size: 64, at: 1.5 + v }));
  }
  for (const key of ["a", "Shared.Key", "sem#0", "😀"])
    for (const f of [new JsonFloat(1), 18446744073709551615n, "\u007fé\n", null])
      await done(store.documents.mutate("kv/plain", key, () => ({ kind: "put", body: { f, key }, answer: 0 })));
  await done(store.documents.mutate("kv/plain", "a", () => ({ kind: "delete", answer: 0 })));
  for (let round = 0; round < 3; round++) {
    const acquired = await done(store.leases.acquire("lock/plain/db#0", "host#1", 5000));
    if (acquired.kind !== "held") throw new Error(acquired.kind);
    await done(store.leases.renew(acquired.lease, 9000));
    await done(store.leases.release(acquired.lease));
  }
}

import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openedStore } from "../support/filesystem.ts";
import { done } from "../support/outcome.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const hour = 3600;

describe("what lies where", () => {
  test("records, documents, blobs and leases have their folders and forms (LAY-1, LAY-3, DOC-1, FMT-1, OPS-5)", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    await done(store.records.append("runs/a", { n: 1 }));
    await done(store.documents.swap("kv/a", "Last", null, { value: 7 }));
    await done(store.leases.acquire("slots/a", "here#1", 60_000));
    await done(store.blobs.put(new TextEncoder().encode("hello")));
    const read = (file: string): unknown => JSON.parse(readFileSync(join(path, "default", file), "utf8"));

    const [record = ""] = readdirSync(join(path, "default/records/runs%2Fa"));
    expect(read(`records/runs%2Fa/${record}`)).toEqual({ schemaVersion: "v1", data: { n: 1 } });
    expect(read("docs/kv%2Fa/%4Cast.doc")).toEqual({ schemaVersion: "v1", data: { value: 7 } });
    expect(read("leases/slots%2Fa.lease")).toMatchObject({ holder: "here#1", fence: 1 });
    expect(readdirSync(join(path, "default/blobs"), { recursive: true }).join()).toContain("2cf24dba5fb0a30e");
    for (const file of [`records/runs%2Fa/${record}`, "docs/kv%2Fa/%4Cast.doc", "leases/slots%2Fa.lease"])
      expect(statSync(join(path, "default", file)).mode & 0o777).toBe(0o600);
  });

  test("two deployments in one directory know nothing of each other (TOP-4, LAY-1)", async () => {
    const path = temporaryDirectory();
    const one = await openedStore(path);
    const other = await openedStore(path, { deploymentId: "Demo.App" });
    await done(one.records.append("runs/a", { n: 1 }));
    await done(one.documents.swap("kv/a", "k", null, { n: 1 }));
    await done(one.leases.acquire("slots/a", "here#1", 60_000));
    expect(readdirSync(path).toSorted()).toEqual(["%44emo%2E%41pp", "default"]);
    expect(await done(other.records.list("runs/a", all))).toEqual([]);
    expect((await done(other.documents.read("kv/a", "k"))).body).toBe(null);
    expect(await done(other.leases.acquire("slots/a", "there#1", 60_000))).toMatchObject({ kind: "held" });
  });

  test("a document whose key had to be cut is there, and its name makes the listing incomplete (ENC-5)", async () => {
    const store = await openedStore(temporaryDirectory());
    const key = "k".repeat(400);
    await done(store.documents.swap("kv/a", key, null, { n: 1 }));
    await done(store.documents.swap("kv/a", "short", null, { n: 2 }));
    expect((await done(store.documents.read("kv/a", key))).body).toEqual({ n: 1 });
    expect(await done(store.documents.keys("kv/a"))).toEqual({ names: ["short"], complete: false });
  });
});

describe("locks", () => {
  test("are files of one NUL byte beside the data, which is replaced while they stay (LCK-1, LCK-3)", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    const folder = join(path, "default/docs/kv%2Fa");
    await done(store.documents.swap("kv/a", "k", null, { n: 1 }));
    const before = { data: statSync(join(folder, "k.doc")).ino, lock: statSync(join(folder, "k.lock")).ino };
    expect(readFileSync(join(folder, "k.lock"))).toEqual(Buffer.from([0]));
    const { version } = await done(store.documents.read("kv/a", "k"));
    await done(store.documents.swap("kv/a", "k", version, { n: 2 }));
    expect(statSync(join(folder, "k.lock")).ino).toBe(before.lock);
    expect(statSync(join(folder, "k.doc")).ino).not.toBe(before.data);
    expect(statSync(join(folder, "k.lock")).mode & 0o777).toBe(0o600);
  });

  test("of documents tell when they were last taken, those of leases do not (LCK-4)", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    await done(store.documents.swap("kv/a", "k", null, { n: 1 }));
    await done(store.leases.acquire("slots/a", "here#1", 60_000));
    const files = ["docs/kv%2Fa/k.lock", "leases/slots%2Fa.lock"].map((file) => join(path, "default", file));
    const longAgo = Math.floor(Date.now() / 1000) - hour;
    for (const file of files) utimesSync(file, longAgo, longAgo);
    const { version } = await done(store.documents.read("kv/a", "k"));
    await done(store.documents.swap("kv/a", "k", version, { n: 2 }));
    await done(store.leases.acquire("slots/a", "here#1", 60_000));
    expect(files.map((file) => statSync(file).mtimeMs / 1000 > longAgo)).toEqual([true, false]);
  });
});

describe("a listing", () => {
  test("counts the records that can be read, and looks at the directory each time (QUA-5, QUA-6)", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    for (const n of [1, 2, 3]) await done(store.records.append("runs/a", { n }));
    const folder = join(path, "default/records/runs%2Fa");
    const [, , third = ""] = readdirSync(folder).toSorted();
    const newest = async () =>
      (await done(store.records.list("runs/a", { ...all, limit: 2 }))).map(({ data }) => data.n);
    expect(await newest()).toEqual([3, 2]);
    rmSync(join(folder, third));
    writeFileSync(join(folder, third.replace(/^\d/, "9")), "damaged");
    expect(await newest()).toEqual([2, 1]);
    expect(await done(store.records.list("runs/none", all))).toEqual([]);
  });

  test("is pruned by when records were written, whatever they say of themselves (PRU-3)", async () => {
    const store = await openedStore(temporaryDirectory());
    await done(store.records.append("runs/a", { finished_at: "2026-11-30T12:00:00+00:00" }));
    await done(store.records.append("runs/a", { finished_at: "2020-01-01T00:00:00+00:00" }));
    await done(store.records.append("runs/a", { interruptedAt: "2019-01-01T00:00:00+00:00" }));
    await done(store.records.prune("runs/a", 1));
    expect((await done(store.records.list("runs/a", all))).map(({ data }) => data)).toEqual([
      { interruptedAt: "2019-01-01T00:00:00+00:00" },
    ]);
  });
});

const all = { order: "newest first", limit: 100, reading: "tolerant" } as const;

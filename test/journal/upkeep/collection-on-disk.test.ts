import { closeSync, openSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Collection, collectGarbage } from "../../../src/journal/upkeep/collection.ts";
import { manifestRecord } from "../../../src/journal/upkeep/manifest-record.ts";
import { tryLock } from "../../../src/platform/flock.ts";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import type { JsonObject } from "../../../src/store/json.ts";
import type { Store } from "../../../src/store/store.ts";
import { openedStore } from "../../store/support/filesystem.ts";
import { done } from "../../store/support/outcome.ts";
import { temporaryDirectory } from "../../store/support/temporary.ts";
import { writtenLog } from "../../support/node.ts";

const day = 86_400;
const own = { host: "here", jobSetId: "v1:0", jobs: ["kept"], scopes: ["global"], dags: ["kept"] };

function collect(store: Store, nowSeconds: number, dryRun?: "dry run"): Promise<Collection> {
  const parts = { backend: () => store, clock: simulatedClock(nowSeconds * 1000), log: writtenLog([]) };
  return collectGarbage(parts, { own, graceSeconds: 7 * day, dryRun: dryRun !== undefined, runs: null });
}

function manifestAt(seconds: number): JsonObject {
  return manifestRecord.encode({ ...own, jobs: [], dags: [], at: seconds * 1000 });
}

describe("garbage collection on a file system", () => {
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
    await done(store.records.append("manifests/here", manifestAt(nowSeconds - 8 * day)));

    const tidied = { temporaries: 1, quarantined: 1, locks: 2 };
    expect(await collect(store, nowSeconds, "dry run")).toMatchObject({ kind: "done", tidied });
    expect(await collect(store, nowSeconds)).toMatchObject({ kind: "done", tidied });
    expect(readdirSync(join(base, "tmp"))).toEqual(["w-new-1.tmp"]);
    expect(readdirSync(join(base, "quarantine"))).toEqual(["new.json.x.bad"]);
    expect(readdirSync(join(base, "docs/kv%2Fa"))).toEqual(["live.doc", "live.lock"]);
    expect(readdirSync(join(base, "leases"))).toEqual(["slots%2Fa.lease", "slots%2Fa.lock"]);
    expect(statSync(join(base, "leases/slots%2Fa.lock")).ino).toBe(inode); // F62
    expect(readFileSync(join(base, "leases/slots%2Fa.lease"), "utf8")).toContain('"fence":1');
  });

  test("a lock that somebody holds is passed over at once (LCK-5)", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    const nowSeconds = Date.now() / 1000;
    await done(store.documents.swap("kv/a", "gone", null, {}));
    const { version } = await done(store.documents.read("kv/a", "gone"));
    await done(store.documents.swap("kv/a", "gone", version, null));
    await done(store.records.append("manifests/here", manifestAt(nowSeconds - 8 * day)));
    const lock = join(path, "default/docs/kv%2Fa/gone.lock");
    utimesSync(lock, nowSeconds - 8 * day, nowSeconds - 8 * day);
    const fd = openSync(lock, "r+");
    expect(tryLock(fd)).toBe(true);
    expect(await collect(store, nowSeconds)).toMatchObject({ kind: "done", tidied: { locks: 0 } });
    closeSync(fd);
    expect(await collect(store, nowSeconds)).toMatchObject({ kind: "done", tidied: { locks: 1 } });
  });

  test("a stream directory nobody can name keeps blobs and is kept (GC-4, GC-7)", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    const nowSeconds = Date.now() / 1000 + 100 * day;
    const long = `artifacts/${"x".repeat(200)}`;
    await done(store.records.append(long, { name: "n", sha256: await done(store.blobs.put(Buffer.from("x"))) }));
    await done(store.records.append("manifests/here", manifestAt(0)));
    const records = join(path, "default/records");
    const token = readdirSync(records).find((name) => name.includes("%.")) ?? "";
    writeFileSync(join(records, token, "stream-name.txt"), "another name");
    expect(await collect(store, nowSeconds)).toMatchObject({
      kind: "done",
      streams: [],
      blobs: { kind: "stood down", because: "an artifact stream cannot be named" },
    });
    expect(readdirSync(records)).toContain(token);
  });
});

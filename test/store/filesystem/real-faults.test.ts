import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import { openedStore, openStore, writtenLog } from "../support/filesystem.ts";
import { cannotFreeze, cannotMount, freezableDisk, smallMemoryDisk } from "../support/mounts.ts";
import { done, failure } from "../support/outcome.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const oldestFirst = { order: "oldest first", limit: 10_000, reading: "tolerant" } as const;

async function numbers(store: Store, stream: string): Promise<unknown[]> {
  return (await done(store.records.list(stream, oldestFirst))).map(({ data }) => data.n);
}

/** Every kind of write, with the reasons they fail. */
async function writeEverything(store: Store): Promise<string[]> {
  const outcomes = await Promise.all([
    store.records.append("runs/a", { n: "more", padding: "x".repeat(5000) }),
    store.documents.swap("kv/a", "new", null, { padding: "x".repeat(5000) }),
    store.blobs.put(Buffer.alloc(8192, 1)),
    store.leases.acquire("slots/new", "a#1", 60_000),
  ]);
  return outcomes.map(
    (outcome) => (outcome.kind === "failed" ? outcome.failure.message.split(":")[0] : outcome.kind) ?? "",
  );
}

describe.skipIf(cannotMount !== null)(
  `a real file system${cannotMount === null ? "" : ` (skipped: ${cannotMount})`}`,
  () => {
    test("that is full refuses writes, keeps what was acknowledged, and serves again when there is room", async () => {
      const disk = smallMemoryDisk("400k");
      const store = await openedStore(disk.path);
      const acquired = await done(store.leases.acquire("slots/a", "a#1", 60_000));
      let acknowledged = 0;
      for (let refused = false; !refused; ) {
        const outcome = await store.records.append("runs/a", { n: acknowledged, padding: "x".repeat(5000) });
        refused = outcome.kind === "failed";
        if (outcome.kind === "failed") expect(outcome.failure).toMatchObject({ reason: "io", message: /ENOSPC/ });
        else acknowledged++;
      }
      while ((await store.records.append("runs/a", { n: acknowledged })).kind === "done") acknowledged++;
      expect(await writeEverything(store)).toEqual(["ENOSPC", "ENOSPC", "ENOSPC", "ENOSPC"]);
      expect(await numbers(store, "runs/a")).toEqual(Array.from({ length: acknowledged }, (_, n) => n));
      expect(readdirSync(join(disk.path, "default/tmp"))).toEqual([]);
      expect(acquired.kind === "held" && (await done(store.leases.read("slots/a")))).toMatchObject({ fence: 1 });

      await done(store.records.prune("runs/a", 10));
      expect(await writeEverything(store)).toEqual(["done", "done", "done", "done"]);
      expect(store.counters().operations.append?.errors).toBeGreaterThanOrEqual(3);
    });

    test("that is read-only refuses writes and goes on reading", async () => {
      const disk = smallMemoryDisk("4m");
      const store = await openedStore(disk.path);
      for (let n = 0; n < 3; n++) await done(store.records.append("runs/a", { n }));
      disk.remount("ro");
      expect(await writeEverything(store)).toEqual(["EROFS", "EROFS", "EROFS", "EROFS"]);
      expect(await numbers(store, "runs/a")).toEqual([0, 1, 2]);
      await expect(openStore(disk.path)).rejects.toThrow("EROFS");
      disk.remount("rw");
      expect(await writeEverything(store)).toEqual(["done", "done", "done", "done"]);
    });
  },
);

test.skipIf(cannotFreeze !== null)(
  `a mount that hangs in the operating system stops no turn of the event loop${cannotFreeze === null ? "" : ` (skipped: ${cannotFreeze})`}`,
  async () => {
    const disk = freezableDisk();
    const store = await openedStore(disk.path);
    await done(store.leases.acquire("slots/a", "a#1", 60_000));
    await done(store.records.append("runs/a", { n: 0 }));
    disk.freeze();
    const asked = [
      store.records.append("runs/a", { n: 1 }, { deadlineMs: 300 }),
      store.leases.acquire("slots/a", "a#1", 60_000, { deadlineMs: 300 }),
      store.documents.swap("kv/a", "k", null, {}, { deadlineMs: 300 }),
    ];
    // A turn that stood still would stand until the thaw: the deadlines would not come.
    expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(["unknown", "unknown", "unknown"]);
    disk.thaw();
    await vi.waitFor(async () => expect(await numbers(store, "runs/a")).toEqual([0, 1]), { timeout: 10_000 });
  },
);

describe("what somebody else does to the directory", () => {
  test("a stream that is removed begins anew", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    for (const n of [1, 2]) await done(store.records.append("runs/a", { n, at: n }));
    expect(await done(store.records.max("runs/a", "at"))).toBe(2);
    rmSync(join(path, "default/records/runs%2Fa"), { recursive: true });
    expect(await done(store.records.max("runs/a", "at"))).toBeNull();
    await done(store.records.append("runs/a", { n: 3, at: 1 }));
    expect(await numbers(store, "runs/a")).toEqual([3]);
    expect(await done(store.records.max("runs/a", "at"))).toBe(1);
  });

  test("directories for temporary files, documents and blobs are made again", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    for (const directory of ["tmp", "docs", "blobs"]) rmSync(join(path, "default", directory), { recursive: true });
    expect(await writeEverything(store)).toEqual(["done", "done", "done", "done"]);
  });

  test("where the whole store has gone nothing is made: the mount may have gone", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    await writeEverything(store);
    renameSync(join(path, "default"), join(path, "moved"));
    expect(await writeEverything(store)).toEqual(["ENOENT", "ENOENT", "ENOENT", "ENOENT"]);
    expect(existsSync(join(path, "default"))).toBe(false);
    renameSync(join(path, "moved"), join(path, "default"));
    expect((await store.records.append("runs/a", {})).kind).toBe("done");
  });

  test("where the leases have gone none is given: their fences would begin again (LSE-2)", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    rmSync(join(path, "default/leases"), { recursive: true });
    expect(await failure(store.leases.acquire("slots/a", "a#1", 60_000), "io")).toMatch(/ENOENT/);
  });

  test("a path that is a file, or below one, is no store (TOP-1)", async () => {
    const path = join(temporaryDirectory(), "file");
    writeFileSync(path, "");
    await expect(openStore(path)).rejects.toThrow("ENOTDIR");
    await expect(openStore(join(path, "below"))).rejects.toThrow("ENOTDIR");
    const base = join(temporaryDirectory(), "default");
    writeFileSync(base, "");
    await expect(openStore(join(base, ".."))).rejects.toThrow("EEXIST");
  });
});

describe("hostile things in a stream", () => {
  test("damaged records are put aside with one warning each, the rest is served (acceptance 10, F60)", async () => {
    const path = temporaryDirectory();
    const { lines, log } = writtenLog();
    const store = await openedStore(path, { log });
    for (let n = 0; n < 10; n++) await done(store.records.append("runs/a", { n }));
    const directory = join(path, "default/records/runs%2Fa");
    const files = readdirSync(directory).map((name) => join(directory, name));
    const damage: readonly [number, string | Buffer][] = [
      [0, ""],
      [1, Buffer.alloc(300)],
      [2, '{"data":{"n":2'],
      [3, "[]"],
      [4, Buffer.from([0xff, 0xfe, 0x7b])],
      [5, `{"data":${'{"a":'.repeat(5000)}1${"}".repeat(5000)},"schemaVersion":"v1"}`],
      [6, '{"data":{"n":NaN},"schemaVersion":"v1"}'],
    ];
    for (const [at, content] of damage) writeFileSync(files[at] ?? "", content);
    truncateSync(files[7] ?? "", 200 * 1024 * 1024);

    expect(await numbers(store, "runs/a")).toEqual([8, 9]);
    expect(await numbers(store, "runs/a")).toEqual([8, 9]);
    expect(lines.filter((line) => line.includes("quarantined corrupt record"))).toHaveLength(8);
    const aside = readdirSync(join(path, "default/quarantine"));
    expect(aside).toHaveLength(8);
    expect(aside.every((name) => /^\d{13}\.\d{6}-[0-9a-f]{12}-\d{12}\.json\.[0-9a-f]{12}\.bad$/.test(name))).toBe(true);
    expect(await done(store.records.max("runs/a", "n"))).toBe(9);
  });

  test("a directory, a pipe, a device and a dangling link neither block nor break a read (F31, QUA-2, GEN-8)", async () => {
    const path = temporaryDirectory();
    const { lines, log } = writtenLog();
    const store = await openedStore(path, { log });
    await done(store.records.append("runs/a", { n: 1 }));
    await done(store.records.append("runs/b", { n: 1 }));
    const directory = join(path, "default/records/runs%2Fa");
    mkdirSync(join(directory, "0-directory.json"));
    execFileSync("mkfifo", [join(directory, "1-pipe.json")]);
    symlinkSync("/dev/zero", join(directory, "2-device.json"));
    symlinkSync("/nowhere", join(directory, "3-link.json"));
    expect(await numbers(store, "runs/a")).toEqual([1]);
    expect(await numbers(store, "runs/b")).toEqual([1]);
    await done(store.records.append("runs/a", { n: 2 }, { keep: 100 }));
    expect(await numbers(store, "runs/a")).toEqual([1, 2]);
    expect(lines.filter((line) => line.includes("leaving it in place"))).toHaveLength(3);
    expect(await failure(store.records.list("runs/a", { ...oldestFirst, reading: "strict" }), "io")).toMatch(/EINVAL/);
    for (const kind of ["docs/kv%2Fa", "leases"]) {
      mkdirSync(join(path, "default", kind), { recursive: true });
      execFileSync("mkfifo", [join(path, "default", kind, kind === "leases" ? "slots%2Fpipe.lease" : "pipe.doc")]);
    }
    await failure(store.documents.read("kv/a", "pipe"), "unreadable");
    expect(await done(store.leases.acquire("slots/pipe", "a#1", 1000))).toEqual({ kind: "unreadable" });
  });

  test("damage to the version stamp, a document and a lease stops no start (F60)", async () => {
    const path = temporaryDirectory();
    await (await openedStore(path)).close(1000);
    const meta = join(path, "default/records/meta");
    for (const name of readdirSync(meta)) writeFileSync(join(meta, name), "\0\0\0");
    mkdirSync(join(path, "default/docs/dagrun%2Fd"));
    writeFileSync(join(path, "default/docs/dagrun%2Fd/r.doc"), "{");
    writeFileSync(join(path, "default/leases/slots%2Fa.lease"), "{");
    const store = await openedStore(path);
    expect(await done(store.documents.list("dagrun/d"))).toEqual([]);
    expect(await done(store.leases.acquire("slots/a", "a#1", 1000))).toEqual({ kind: "unreadable" });
    expect(readdirSync(meta)).toHaveLength(2);
  });
});

test("directories are 0700 and files 0600, narrowed by the umask (LAY-6, OPS-1)", async () => {
  const path = join(temporaryDirectory(), "a/b");
  const before = process.umask(0o277);
  try {
    const store = await openedStore(path);
    await writeEverything(store);
    closeSync(openSync(join(path, "default/tmp/probe"), "w"));
  } finally {
    process.umask(before);
  }
  const modes = (at: string): string[] =>
    readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
      const inside = join(at, entry.name);
      const mode = `${entry.isDirectory() ? "directory" : "file"} 0${(statSync(inside).mode & 0o777).toString(8)}`;
      return entry.isDirectory() ? [mode, ...modes(inside)] : [mode];
    });
  rmSync(join(path, "default/tmp/probe"));
  expect(new Set(modes(join(path, "..")))).toEqual(new Set(["directory 0500", "file 0400"]));
});

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type Header, pack } from "tar-stream";
import { describe, expect, test } from "vitest";
import { backUp } from "../../../src/store/admin/backup.ts";
import { migrate } from "../../../src/store/admin/migrate.ts";
import { restore } from "../../../src/store/admin/restore.ts";
import { referenceStore } from "../../compat/reference-store.ts";
import { checkStore } from "../../compat/store-checker.ts";
import { openedStore } from "../support/filesystem.ts";
import { done } from "../support/outcome.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const carried = ["records", "docs", "blobs", "leases"];

/** Contents of a store's carried files by path. */
function contents(base: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(base, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(base.length + 1);
    if (entry.isFile() && carried.some((directory) => path.startsWith(`${directory}/`)))
      found.set(path, readFileSync(join(base, path), "base64"));
  }
  return found;
}

function sampleBase(): string {
  return join(referenceStore(), "store/%44emo%2E%41pp");
}

const leaseText = (fence: number): string => `{"expiresAt":0.0,"fence":${fence},"holder":"h#1","name":"slots/a"}`;

/** An archive of members as they are given. */
async function archiveOf(
  members: readonly (Partial<Header> & { readonly name: string; readonly content?: string })[],
): Promise<string> {
  const path = join(temporaryDirectory(), "made.tar.gz");
  const archive = pack();
  for (const { content, ...header } of members) archive.entry(header, content ?? "");
  archive.finalize();
  await pipeline(archive, createGzip(), createWriteStream(path));
  return path;
}

describe("a backup (ADM-3)", () => {
  test("restores to an equal store, with modes and times", async () => {
    const base = sampleBase();
    const archive = join(temporaryDirectory(), "b.tar.gz");
    const files = contents(base);
    expect(await backUp(base, archive)).toEqual({ kind: "done", files: files.size });
    expect(statSync(archive).mode & 0o777).toBe(0o600);

    const copy = join(temporaryDirectory(), "deep/default");
    expect(await restore(archive, copy, false)).toEqual({ kind: "done", files: files.size, keptLeases: 0 });
    expect(contents(copy)).toEqual(files);
    const [blob = ""] = [...files.keys()].filter((path) => path.startsWith("blobs/"));
    expect(Math.trunc(statSync(join(copy, blob)).mtimeMs / 1000)).toBe(
      Math.trunc(statSync(join(base, blob)).mtimeMs / 1000),
    );
    for (const directory of ["quarantine", "tmp"]) mkdirSync(join(copy, directory), { mode: 0o700 });
    expect(checkStore(copy)).toEqual([]);
  });

  test("is a gzip tar of plain files that the usual tools read", async () => {
    const base = sampleBase();
    const archive = join(temporaryDirectory(), "b.tar.gz");
    writeFileSync(join(base, "tmp/w-x-1.tmp"), "");
    writeFileSync(join(base, "quarantine/x.json.y.bad"), "");
    symlinkSync("/etc/passwd", join(base, "docs/link"));
    await backUp(base, archive);
    const listed = execFileSync("tar", ["tzvf", archive], { encoding: "utf8" }).trimEnd().split("\n");
    expect(listed).toHaveLength(contents(base).size);
    expect(listed.every((line) => line.startsWith("-rw-------"))).toBe(true);
    expect(execFileSync("tar", ["xzOf", archive, "leases/slots%2Fcluster-forbid.lease"], { encoding: "utf8" })).toBe(
      readFileSync(join(base, "leases/slots%2Fcluster-forbid.lease"), "utf8"),
    );
  });

  test("is its owner's alone, also where there was another file", async () => {
    const archive = join(temporaryDirectory(), "b.tar.gz");
    writeFileSync(archive, "x".repeat(1_000_000), { mode: 0o644 });
    await backUp(sampleBase(), archive);
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    execFileSync("gzip", ["-t", archive]);
  });

  test("of a store in use is whole and can be restored (ADM-2)", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    const writer = (async () => {
      for (let n = 0; n < 400; n++)
        await Promise.all([
          store.records.append("runs/a", { n }, { keep: 5 }),
          store.documents.mutate("kv/a", "k", () => ({
            kind: "put",
            body: { n, padding: "x".repeat(n * 10) },
            answer: 0,
          })),
          store.leases.acquire(`slots/${n % 10}`, "a#1", 60_000),
          store.records.append(`runs/new ${n % 50}`, { n }),
        ]);
    })();
    for (let round = 0; round < 3; round++) {
      const archive = join(temporaryDirectory(), "b.tar.gz");
      await backUp(join(path, "default"), archive);
      const copy = join(temporaryDirectory(), "default");
      await restore(archive, copy, false);
      for (const directory of [...carried, "quarantine", "tmp"])
        mkdirSync(join(copy, directory), { recursive: true, mode: 0o700 });
      expect(checkStore(copy)).toEqual([]);
    }
    await writer;
  });

  test("of nothing says so", async () => {
    const archive = join(temporaryDirectory(), "b.tar.gz");
    expect(await backUp(join(temporaryDirectory(), "none"), archive)).toEqual({ kind: "no store" });
    expect(existsSync(archive)).toBe(false);
  });
});

describe("a restore (ADM-4)", () => {
  test("into a store that holds something needs force", async () => {
    const base = sampleBase();
    const archive = join(temporaryDirectory(), "b.tar.gz");
    await backUp(base, archive);
    expect(await restore(archive, base, false)).toEqual({ kind: "populated" });
    const fresh = temporaryDirectory();
    const store = await openedStore(fresh);
    await store.close(1000);
    expect(await restore(archive, join(fresh, "default"), false)).toEqual({ kind: "populated" });
    expect((await restore(archive, join(fresh, "default"), true)).kind).toBe("done");
    const restored = await openedStore(fresh);
    expect((await done(restored.upkeep.inventory())).streams).toHaveLength(47);
  });

  test("merges records and documents, leaves locks, and keeps leases whose fence is newer", async () => {
    const archive = await archiveOf([
      { name: "leases/slots%2Folder.lease", content: leaseText(4) },
      { name: "leases/slots%2Fequal.lease", content: leaseText(5) },
      { name: "leases/slots%2Fnewer.lease", content: leaseText(6) },
      { name: "leases/slots%2Fabsent.lease", content: leaseText(1) },
      { name: "leases/slots%2Fdamaged here.lease", content: leaseText(9) },
      { name: "leases/slots%2Fdamaged there.lease", content: "{" },
      { name: "leases/slots%2Folder.lock", content: "\0" },
      { name: "docs/kv%2Fa/k.doc", content: "archived" },
      { name: "docs/kv%2Fa/k.lock", content: "\0" },
    ]);
    const base = temporaryDirectory();
    for (const directory of ["leases", "docs/kv%2Fa"]) mkdirSync(join(base, directory), { recursive: true });
    const lease = (name: string): string => join(base, `leases/slots%2F${name}.lease`);
    for (const name of ["older", "equal", "newer", "damaged there"]) writeFileSync(lease(name), leaseText(5));
    writeFileSync(lease("damaged here"), "not a lease");
    writeFileSync(join(base, "docs/kv%2Fa/k.doc"), "current");

    expect(await restore(archive, base, true)).toEqual({ kind: "done", files: 4, keptLeases: 3 });
    const texts = ["older", "equal", "newer", "absent", "damaged here", "damaged there"].map((name) =>
      readFileSync(lease(name), "utf8"),
    );
    expect(texts).toEqual([leaseText(5), leaseText(5), leaseText(6), leaseText(1), "not a lease", leaseText(5)]);
    expect(readFileSync(join(base, "docs/kv%2Fa/k.doc"), "utf8")).toBe("archived");
    expect(readdirSync(join(base, "docs/kv%2Fa"))).toEqual(["k.doc"]);
    expect(statSync(lease("newer")).mode & 0o777).toBe(0o600);
  });

  test("writes nothing outside the store, whatever the archive says (acceptance 37)", async () => {
    const parent = temporaryDirectory();
    const base = join(parent, "default");
    const content = "evil";
    const archive = await archiveOf([
      { name: "../outside", content },
      { name: "records/../../outside", content },
      { name: "/outside", content },
      { name: `${parent}/outside`, content },
      { name: "records/./x.json", content },
      { name: "records//x.json", content },
      { name: "records", content },
      { name: "elsewhere/x.json", content },
      { name: "tmp/x.tmp", content },
      { name: "quarantine/x.bad", content },
      { name: "records/runs%2Fa/link.json", type: "symlink", linkname: "/etc/passwd" },
      { name: "records/runs%2Fa/hard.json", type: "link", linkname: "/etc/passwd" },
      { name: "records/runs%2Fa/device.json", type: "character-device", devmajor: 1, devminor: 5 },
      { name: "records/runs%2Fa/pipe.json", type: "fifo" },
      { name: "records/runs%2Fa", type: "directory" },
      { name: "records/runs%2Fa/good.json", content: "good" },
    ]);
    expect(await restore(archive, base, false)).toMatchObject({ kind: "done", files: 1 });
    expect(readdirSync(parent)).toEqual(["default"]);
    expect(contents(base)).toEqual(new Map([["records/runs%2Fa/good.json", Buffer.from("good").toString("base64")]]));
    expect(existsSync("/outside")).toBe(false);
  });

  test("follows no link among the store's directories", async () => {
    const outside = temporaryDirectory();
    const base = temporaryDirectory();
    mkdirSync(join(base, "records"));
    symlinkSync(outside, join(base, "records/runs%2Fa"));
    const archive = await archiveOf([{ name: "records/runs%2Fa/deeper/x.json", content: "evil" }]);
    await expect(restore(archive, base, false)).rejects.toThrow("leads out of the store");
    expect(readdirSync(outside)).toEqual([]);
  });

  test("of an archive that breaks off changes nothing", async () => {
    const whole = join(temporaryDirectory(), "b.tar.gz");
    await backUp(sampleBase(), whole);
    for (const part of [0.2, 0.6, 0.98]) {
      const cut = join(temporaryDirectory(), "cut.tar.gz");
      copyFileSync(whole, cut);
      truncateSync(cut, Math.floor(statSync(whole).size * part));
      const base = join(temporaryDirectory(), "default");
      await expect(restore(cut, base, false)).rejects.toThrow();
      expect(
        readdirSync(base, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory()),
      ).toEqual([]);
    }
    await expect(restore(join(temporaryDirectory(), "none"), temporaryDirectory(), false)).rejects.toThrow("ENOENT");
  });
});

describe("a migration (ADM-5)", () => {
  test("copies the store, also to a sibling namespace", async () => {
    const base = sampleBase();
    const files = contents(base);
    for (const destination of [join(temporaryDirectory(), "new/place"), join(base, "../sibling")]) {
      expect(await migrate(base, destination, false)).toEqual({ kind: "done", files: files.size });
      expect(contents(destination)).toEqual(files);
    }
    expect(contents(base)).toEqual(files);
  });

  test("refuses the store itself, what is in it and around it, and a populated place without force", async () => {
    const base = sampleBase();
    for (const place of [base, join(base, "inside"), join(base, ".."), join(base, "records/../../%44emo%2E%41pp")])
      expect(await migrate(base, place, true)).toEqual({ kind: "nested" });
    const link = join(temporaryDirectory(), "link");
    symlinkSync(base, link);
    expect(await migrate(base, join(link, "x"), true)).toEqual({ kind: "nested" });
    const other = sampleBase();
    expect(await migrate(base, other, false)).toEqual({ kind: "populated" });
    expect((await migrate(base, other, true)).kind).toBe("done");
    expect(await migrate(join(base, "none"), join(temporaryDirectory(), "x"), false)).toEqual({ kind: "no store" });
  });

  test("that fails half-way changes nothing", async () => {
    const base = sampleBase();
    symlinkSync("/nowhere", join(base, "leases/zzz.lease"));
    const destination = temporaryDirectory();
    mkdirSync(join(destination, "records"));
    writeFileSync(join(destination, "leases"), "in the way");
    chmodSync(join(destination, "leases"), 0o600);
    await expect(migrate(base, destination, true)).rejects.toThrow("ENOTDIR");
    expect(contents(destination).size).toBe(0);
  });
});

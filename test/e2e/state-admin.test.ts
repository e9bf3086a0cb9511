import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type Folder, withFolder } from "../support/daemon-process.ts";

const reference = join(import.meta.dirname, "../data/reference-store.tar.gz");

/** Runs one action to its end. */
async function state(folder: Folder, config: string, ...args: readonly string[]) {
  const program = folder.start("-c", config, "state", ...args);
  return { code: await program.ended, stdout: program.stdout(), stderr: program.stderr() };
}

/** Unpacks the reference's store and a configuration for it. */
function unpacked(folder: Folder): { readonly config: string; readonly base: string } {
  execFileSync("tar", ["xzf", reference, "-C", folder.path]);
  const [deployment = ""] = readdirSync(join(folder.path, "store"));
  const config = folder.write(
    "state.yaml",
    `state: {path: ${folder.path}/store, deploymentId: ${decodeURIComponent(deployment)}}\njobs: []\n`,
  );
  return { config, base: join(folder.path, "store", deployment) };
}

/** Every file below a folder, with its bytes. */
function files(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return new Map(names.sort().map((name) => [name, readFileSync(join(folder, name), "base64")]));
}

test("25: a backup, restored into an empty store, gives the same files; a populated one is refused", () =>
  withFolder(async (folder) => {
    const { config, base } = unpacked(folder);
    const archive = join(folder.path, "backup.tar.gz");
    const backup = await state(folder, config, "backup", "-o", archive);
    expect(backup).toMatchObject({ code: 0, stdout: expect.stringMatching(/^state: backed up \d+ file\(s\) from /) });
    expect(statSync(archive).mode & 0o777).toBe(0o600);

    const empty = folder.write("empty.yaml", `state: {path: ${folder.path}/empty}\n`);
    const restored = await state(folder, empty, "restore", archive);
    expect(restored).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^state: restored \d+ file\(s\) from .*backup\.tar\.gz into /),
    });
    const carried = (name: string): boolean => /^(records|docs|blobs|leases)\//.test(name);
    const source = [...files(base)].filter(([name]) => carried(name));
    expect([...files(join(folder.path, "empty/default"))].filter(([name]) => carried(name))).toEqual(source);

    const target = `${folder.path}/empty/default`;
    expect(await state(folder, empty, "restore", archive)).toEqual({
      code: 1,
      stdout: "",
      stderr: `state: refusing to restore into the non-empty store at ${target} (pass --force to merge into it; NOT safe while a daemon uses it)\n`,
    });

    const lease = join(target, "leases/slots%2Fcluster-forbid.lease");
    writeFileSync(lease, readFileSync(lease, "utf8").replace('"fence":5', '"fence":6'));
    expect((await state(folder, empty, "restore", archive, "--force")).stdout).toMatch(
      /\nstate: kept 1 current lease file\(s\) whose archived fence was older \(restoring those would regress fence counters\)\n$/,
    );
    expect(readFileSync(lease, "utf8")).toContain('"fence":6');
  }));

test("a store that is not there cannot be backed up", () =>
  withFolder(async (folder) => {
    const config = folder.write("none.yaml", `state: {path: ${folder.path}/none}\n`);
    expect(await state(folder, config, "backup", "-o", join(folder.path, "x.tar.gz"))).toEqual({
      code: 1,
      stdout: "",
      stderr: `state: nothing to back up: ${folder.path}/none/default does not exist\n`,
    });
  }));

test("the configuration is named before or after the action, and a wrong use is told from a failure (ADM-1)", () =>
  withFolder(async (folder) => {
    const { config } = unpacked(folder);
    const none = folder.write("none.yaml", "jobs: []\n");
    const run = async (...args: readonly string[]) => {
      const program = folder.start(...args);
      return { code: await program.ended, stdout: program.stdout(), stderr: program.stderr() };
    };
    const [before, after] = [await run("-c", config, "state", "check"), await run("state", "check", "-c", config)];
    expect(after).toEqual(before);
    expect(before.code).toBe(0);
    expect(await run("-c", none, "state", "check")).toMatchObject({ code: 1, stdout: "" });
    expect(await run("-c", config, "state", "chekc")).toMatchObject({ code: 2, stdout: "" });
  }));

test("check opens the store of another implementation and counts what is in it", () =>
  withFolder(async (folder) => {
    const { config } = unpacked(folder);
    const { code, stdout } = await state(folder, config, "check");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^state: store at .* is writable\n {2}backend: filesystem\n {2}namespace: .*\n {2}topology: single-node\n/,
    );
    expect(stdout).toMatch(/\n {4}runs: \d+ record\(s\)\n/);
  }));

test("gc is deferred on a young store, and refused where it is disabled", () =>
  withFolder(async (folder) => {
    const config = folder.write("young.yaml", `state: {path: ${folder.path}/young}\n`);
    expect(await state(folder, config, "gc", "--dry-run")).toEqual({
      code: 0,
      stdout:
        "state: gc deferred: the manifest history does not yet span gcGraceSeconds, so the store cannot prove what is orphaned\n",
      stderr: "",
    });
    const off = folder.write("off.yaml", `state: {path: ${folder.path}/young, gcGraceSeconds: 0}\n`);
    expect(await state(folder, off, "gc")).toEqual({
      code: 1,
      stdout: "",
      stderr: "cronstable state error: state.gcGraceSeconds is disabled (<= 0); nothing to collect\n",
    });
  }));

/** A file of the year 2020 in a store. */
function old(base: string, path: string, content: string): void {
  const file = join(base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  utimesSync(file, 1_600_000_000, 1_600_000_000);
}

test("gc tells what it removes, and as a dry run what it would, the same", () =>
  withFolder(async (folder) => {
    const base = join(folder.path, "old/default");
    const config = folder.write("old.yaml", `state: {path: ${folder.path}/old}\n`);
    const record = (stream: string, n: number, data: object): void =>
      old(
        base,
        `records/${stream}/000160000000${n}.000000-aaaaaaaaaaaa-000000000001.json`,
        JSON.stringify({ data, schemaVersion: "v1" }),
      );
    record("manifests%2Fhere", 0, {
      at: "2020-09-13T12:26:40+00:00",
      host: "h",
      jobs: ["Old Job"],
      scopes: [],
      dags: [],
    });
    for (const n of [1, 2, 3]) record("runs%2F%4Fld%20%4Aob", n, {});
    record("odd%2Fstream", 0, {});
    const sha256 = "ab".repeat(32);
    old(base, `blobs/ab/${sha256}.blob`, "x");
    old(base, "tmp/w-aaaaaaaaaaaa-1.tmp", "x");
    old(base, "quarantine/r.json.aaaaaaaaaaaa.bad", "x");

    const told = (verb: string): string =>
      `state: gc ${verb} 2 stream(s) (4 record(s)), 1 temp file(s), 1 quarantined record(s); kept 2 stream(s)
state: gc ${verb} 1 orphaned artifact blob(s)
  - manifests%2Fhere
  - runs%2F%4Fld%20%4Aob
`;
    const before = files(base);
    expect(await state(folder, config, "gc", "--dry-run")).toEqual({
      code: 0,
      stdout: told("would remove"),
      stderr: "",
    });
    for (const [name, bytes] of before) expect(files(base).get(name), name).toBe(bytes);
    expect(await state(folder, config, "gc")).toEqual({ code: 0, stdout: told("removed"), stderr: "" });
    expect(readdirSync(join(base, "records")).sort()).toEqual(["meta", "odd%2Fstream"]);

    record("manifests%2Fhere", 0, { at: "2020-09-13T12:26:40+00:00", host: "h", jobs: [], scopes: [], dags: [] });
    mkdirSync(join(base, `records/artifacts%2F${"x".repeat(85)}%.${"0".repeat(32)}`));
    expect((await state(folder, config, "gc")).stdout).toContain(
      "\nstate: orphan-blob sweep skipped: an artifact stream cannot be named\n",
    );
  }));

test("migrate copies to another place, and refuses one inside the source and one that is taken", () =>
  withFolder(async (folder) => {
    const { config, base } = unpacked(folder);
    const toNew = ["migrate", "--dest", `${folder.path}/moved`, "--dest-deployment-id", "new"];
    const moved = await state(folder, config, ...toNew);
    expect(moved).toMatchObject({ code: 0, stderr: "" });
    const [first, second] = moved.stdout.split("\n");
    expect(first).toMatch(/^state: migrated \d+ file\(s\) from \S+ to \S+\/moved\/new$/);
    expect(second).toBe(
      "state: point state.path at the new location (and update deploymentId if you changed it) to cut over",
    );
    expect(readdirSync(join(folder.path, "moved/new"))).toContain("records");
    expect(await state(folder, config, ...toNew)).toEqual({
      code: 1,
      stdout: "",
      stderr: `state: refusing to migrate into the non-empty store at ${folder.path}/moved/new (pass --force to overwrite; NOT safe while a daemon uses it)\n`,
    });
    expect(await state(folder, config, "migrate", "--dest", `${base}/records`)).toEqual({
      code: 1,
      stdout: "",
      stderr: "state: destination must be a store outside the source\n",
    });
  }));

test("migrate-schema counts what it finds", () =>
  withFolder(async (folder) => {
    const { config } = unpacked(folder);
    for (const [flags, verb] of [
      [["--dry-run"], "would convert"],
      [[], "converted"],
    ] as const)
      expect((await state(folder, config, "migrate-schema", ...flags)).stdout).toMatch(
        new RegExp(
          `^state: migrate-schema ${verb} 0 record\\(s\\); \\d+ current, 0 unknown, 0 unreadable, 0 failed\\n$`,
        ),
      );
  }));

test.each([
  [["state"], 2, /^cronstable state: no action given \(see `cronstable state --help`\)\n$/],
  [["state", "-c", "x", "check"], 2, /error: unknown option '-c'/],
  [["state", "backup"], 2, /error: required option '-o, --output <file\.tar\.gz>' not specified/],
  [
    ["state", "check", "-c", "examples/alerts.yaml"],
    1,
    /^cronstable state error: the configuration has no `state:` section; `cronstable state` administers the durable store it defines\n$/,
  ],
  [["state", "check", "-c", "/nonexistent.yaml"], 1, /^cronstable state error: /],
])("%j exits with %i", (args, code, stderr) =>
  withFolder(async (folder) => {
    const program = folder.start(...args);
    expect([await program.ended, program.stderr()]).toEqual([code, expect.stringMatching(stderr)]);
  }),
);

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
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

    expect(await state(folder, empty, "restore", archive)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^cronstable state error: the store at .* is not empty; .*--force/),
    });
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

test("gc is deferred on a young store, a dry run changes nothing, and a disabled one is refused", () =>
  withFolder(async (folder) => {
    const config = folder.write("young.yaml", `state: {path: ${folder.path}/young}\n`);
    expect(await state(folder, config, "gc", "--dry-run")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("gc deferred"),
    });
    const off = folder.write("off.yaml", `state: {path: ${folder.path}/young, gcGraceSeconds: 0}\n`);
    expect(await state(folder, off, "gc")).toMatchObject({ code: 1, stderr: expect.stringContaining("disabled") });
  }));

test("migrate copies to another place, and refuses one inside the source", () =>
  withFolder(async (folder) => {
    const { config, base } = unpacked(folder);
    const moved = await state(
      folder,
      config,
      "migrate",
      "--dest",
      `${folder.path}/moved`,
      "--dest-deployment-id",
      "new",
    );
    expect(moved).toMatchObject({ code: 0, stdout: expect.stringMatching(/^state: migrated \d+ file\(s\) from /) });
    expect(readdirSync(join(folder.path, "moved/new"))).toContain("records");
    expect(await state(folder, config, "migrate", "--dest", `${base}/records`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("state: destination must be a store outside the source"),
    });
  }));

test.each([
  [["state"], 2, /^cronstable state: no action given \(see `cronstable state --help`\)\n$/],
  [["state", "-c", "x", "check"], 2, /error: unknown option '-c'/],
  [["state", "backup"], 2, /error: required option '-o, --output <file\.tar\.gz>' not specified/],
  [["state", "check", "-c", "examples/alerts.yaml"], 1, /^cronstable state error: .*no `state:` section/],
  [["state", "check", "-c", "/nonexistent.yaml"], 1, /^cronstable state error: /],
])("%j exits with %i", (args, code, stderr) =>
  withFolder(async (folder) => {
    const program = folder.start(...args);
    expect([await program.ended, program.stderr()]).toEqual([code, expect.stringMatching(stderr)]);
  }),
);

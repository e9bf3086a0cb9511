import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { posixSpawner } from "../../../src/platform/spawn/posix-spawn.ts";
import type { SpawnRequest } from "../../../src/platform/spawn/spawner.ts";

const run = promisify(execFile);
const canUnshare = spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0;

const quiet = (argv: readonly string[]): SpawnRequest => ({
  argv,
  environment: { base: { PATH: "/usr/bin:/bin" }, added: {} },
  workingDirectory: null,
  stdout: "inherit",
  stderr: "inherit",
});

test.runIf(canUnshare)("as process 1, orphans are waited for and no exit code is lost (F35)", async () => {
  const fixture = fileURLToPath(new URL("fixtures/container-init.ts", import.meta.url));
  const unshare = ["--pid", "--fork", "--mount-proc", "--kill-child", process.execPath, "--import", "tsx", fixture];
  const { stdout } = await run("unshare", unshare);
  expect(JSON.parse(stdout)).toEqual({ pid: 1, own: 200, nodes: 20, zombies: 0 });
});

test("Node's own children keep their exit codes beside ours", async () => {
  const spawner = await posixSpawner();
  const ours = Array.from({ length: 30 }, async (_, index) => {
    const outcome = await spawner.spawn(quiet(["/bin/sh", "-c", `exit ${index}`]));
    return outcome.kind === "started" ? outcome.child.exit : outcome.message;
  });
  const nodes = Array.from({ length: 10 }, (_, index) =>
    run("/bin/sh", ["-c", `exit ${index + 1}`]).catch((error: { code: number }) => error.code),
  );
  expect(await Promise.all(ours)).toEqual(Array.from({ length: 30 }, (_, index) => index));
  expect(await Promise.all(nodes)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
});

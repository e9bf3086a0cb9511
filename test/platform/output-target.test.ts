import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { outputTarget } from "../../src/platform/output-target.ts";
import { posixSpawner } from "../../src/platform/spawn/posix-spawn.ts";
import { textOf } from "../contract/spawner.ts";

const fixture = [
  process.execPath,
  "--import",
  "tsx",
  fileURLToPath(new URL("fixtures/write-output.ts", import.meta.url)),
];
const expected = "0123456789abcde\n".repeat(250_000);
const linux = process.platform === "linux";

describe("a reader that does not read", () => {
  const pipes: readonly { whose: string; prefix: readonly string[] }[] = [
    { whose: "a pipe", prefix: [] },
    { whose: "another user's pipe", prefix: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] },
  ];
  const testable = pipes.filter(({ prefix }) => prefix.length === 0 || process.getuid?.() === 0);

  test.runIf(linux).each(testable)("$whose: the loop goes on, all arrives once it reads", async ({ prefix }) => {
    const spawner = await posixSpawner();
    const outcome = await spawner.spawn({
      argv: [...prefix, ...fixture],
      environment: { base: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: "/nonexistent" }, added: {} },
      workingDirectory: null,
      stdout: "pipe",
      stderr: "pipe",
    });
    if (outcome.kind === "failed") throw new Error(outcome.message);
    const { child } = outcome;
    let said = "";
    const saidAll = new Promise<void>((resolve) => {
      let stdout: Promise<string> | null = null;
      child.stderr?.read((bytes) => {
        said += bytes.toString();
        if (said.includes("alive")) stdout ??= textOf(child.stdout);
        return "more";
      }, resolve);
      void child.exit.then(async () => expect(await stdout).toBe(expected));
    });
    await saidAll;
    expect(said).toBe("alive\nwritten, descriptor left blocking\n");
    expect(await child.exit).toBe(0);
  });

  test("a socket: the loop goes on, all arrives once it reads", async () => {
    const [program = "", ...args] = fixture;
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] }); // Node's "pipe" is a pair of sockets
    const [said] = await once(child.stderr, "data");
    expect(String(said)).toBe("alive\n");
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(stdout).toBe(expected);
    expect(stderr).toBe("written, descriptor left blocking\n");
  });
});

test("a file takes all", async () => {
  const directory = mkdtempSync(join(tmpdir(), "cronstable-output-"));
  const fd = openSync(join(directory, "out"), "w");
  const target = outputTarget(fd, systemClock);
  const error = await new Promise((resolve) => target.write(Buffer.from(expected), resolve));
  expect(error).toBeNull();
  expect(readFileSync(join(directory, "out"), "utf8")).toBe(expected);
  target.close();
  closeSync(fd);
  rmSync(directory, { recursive: true });
});

test("a reader that has gone is an error", async () => {
  const directory = mkdtempSync(join(tmpdir(), "cronstable-output-"));
  const child = spawn("mkfifo", [join(directory, "pipe")]);
  await once(child, "exit");
  const reader = openSync(join(directory, "pipe"), "r+");
  const writer = openSync(join(directory, "pipe"), "w");
  const target = outputTarget(writer, systemClock);
  closeSync(reader);
  const error = await new Promise((resolve) => target.write(Buffer.from("x"), resolve));
  expect(error).toMatchObject({ code: "EPIPE" });
  target.close();
  closeSync(writer);
  rmSync(directory, { recursive: true });
});

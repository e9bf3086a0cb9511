import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tryLock, unlock } from "../../src/platform/flock.ts";

function lockFile(): string {
  const directory = mkdtempSync(join(tmpdir(), "cronstable-flock-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, "x.lock");
}

function opened(path: string): number {
  const fd = openSync(path, "a+");
  onTestFinished(() => closeSync(fd));
  return fd;
}

test("one opening of a file has the lock at a time, until it gives it back", () => {
  const path = lockFile();
  const [a, b] = [opened(path), opened(path)];
  expect(tryLock(a)).toBe(true);
  expect(tryLock(b)).toBe(false);
  unlock(a);
  expect(tryLock(b)).toBe(true);
  expect(tryLock(a)).toBe(false);
});

test("it is the lock other programs take (LCK-2)", async () => {
  const path = lockFile();
  const fd = opened(path);
  expect(tryLock(fd)).toBe(true);
  expect(() => execFileSync("flock", ["-n", path, "true"], { stdio: "pipe" })).toThrow();
  unlock(fd);
  const holder = spawn("flock", [path, "sh", "-c", "echo held; read go"], { stdio: ["pipe", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  expect(tryLock(fd)).toBe(false);
  const gone = once(holder, "exit");
  holder.stdin.end("\n");
  await gone;
  expect(tryLock(fd)).toBe(true);
});

test("closing the file gives the lock back", () => {
  const path = lockFile();
  const fd = openSync(path, "a+");
  expect(tryLock(fd)).toBe(true);
  closeSync(fd);
  expect(tryLock(opened(path))).toBe(true);
});

test("a lock that cannot be is an error with its name", () => {
  expect(() => tryLock(9999)).toThrow(expect.objectContaining({ code: "EBADF", syscall: "flock" }));
  expect(() => unlock(9999)).toThrow("EBADF: flock failed");
});

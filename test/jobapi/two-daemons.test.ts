import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lockAcquire, lockRelease } from "../../src/client/job/calls.ts";
import { type Endpoint, endpointFrom } from "../../src/client/job/endpoint.ts";
import { ownDirectory } from "../store/support/temporary.ts";

/** How long 50 jobs contend; without it, for some turns. */
const CONTENTION_SECONDS = Number(process.env.LOCK_SECONDS_IN_TESTS ?? 0);

const root = join(import.meta.dirname, "../..");
const directory = ownDirectory();
const daemons: ChildProcess[] = [];
let runs: readonly (readonly Endpoint[])[] = [];

/** A daemon with 25 live runs, as far as jobs see it. */
async function startDaemon(): Promise<readonly Endpoint[]> {
  const program = join(import.meta.dirname, "support/endpoint.program.ts");
  const daemon = spawn(
    process.execPath,
    ["--import", join(root, "scripts/load-typescript.mjs"), program, directory.path, "25"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  daemons.push(daemon);
  for await (const line of createInterface({ input: daemon.stdout })) return JSON.parse(line).map(endpointFrom);
  throw new Error("the daemon ended before it served");
}

beforeAll(async () => {
  runs = await Promise.all([startDaemon(), startDaemon()]);
});
afterAll(() => {
  for (const daemon of daemons) daemon.kill("SIGKILL");
  directory.remove();
});

/** What jobs see that take the lock, work for a moment, and let go, until it was had `turns` times, or until `endsAt`. */
async function contend(name: string, permits: number, turns: number, endsAt = 0) {
  let holders = 0;
  let most = 0;
  let had = 0;
  const fences = new Map<number, number[]>();
  const wish = { permits, wait: true, blockSeconds: 60, ttlSeconds: null };
  const contender = async (endpoint: Endpoint): Promise<void> => {
    while (had < turns || performance.now() < endsAt) {
      const held = await lockAcquire(endpoint, "global", name, wish);
      if (held === null) continue;
      had++;
      most = Math.max(most, ++holders);
      fences.set(held.slot, [...(fences.get(held.slot) ?? []), held.fence]);
      await new Promise((resolve) => setImmediate(resolve));
      holders--;
      await lockRelease(endpoint, held.token);
    }
  };
  await Promise.all(runs.flat().map(contender));
  return { most, fences: [...fences.values()] };
}

const lockFiles = (): Map<string, number> => {
  const leases = join(directory.path, "default/leases");
  const locks = readdirSync(leases).filter((file) => file.endsWith(".lock"));
  return new Map(locks.map((file) => [file, statSync(join(leases, file)).ino]));
};

test(
  "50 jobs of two daemons on one store: never more holders than permits, and every fence but once",
  async () => {
    const endsAt = performance.now() + CONTENTION_SECONDS * 1000;
    const [mutex, semaphore] = await Promise.all([contend("mutex", 1, 60, endsAt), contend("three", 3, 60, endsAt)]);
    expect(mutex.most).toBe(1);
    expect(semaphore.most).toBe(3);
    for (const seen of [...mutex.fences, ...semaphore.fences])
      expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    const before = lockFiles();
    await contend("mutex", 1, 20);
    for (const [file, inode] of before) expect(lockFiles().get(file), file).toBe(inode); // F62
  },
  60_000 + CONTENTION_SECONDS * 1000,
);

test("the lock of a daemon that is killed is free within its time to live, not before its lease has run out", async () => {
  const [doomed, other] = [runs[0]?.[0], runs[1]?.[0]];
  if (doomed === undefined || other === undefined) throw new Error("no runs");
  const once = { permits: 1, wait: false, blockSeconds: 0, ttlSeconds: null };
  const held = await lockAcquire(doomed, "global", "orphan", once);
  daemons[0]?.kill("SIGKILL");
  expect(await lockAcquire(other, "global", "orphan", once)).toBe(null);
  const taken = await lockAcquire(other, "global", "orphan", { ...once, wait: true, blockSeconds: 5 + 1 });
  expect(taken?.fence).toBe((held?.fence ?? 0) + 1);
});

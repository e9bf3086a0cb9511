import { execFile } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { jsonFloat } from "../../../src/store/json.ts";
import type { Store } from "../../../src/store/store.ts";
import { bundled } from "../support/bundle.ts";
import { openedStore } from "../support/filesystem.ts";
import { done } from "../support/outcome.ts";
import { noPython, pythonPeer, racer } from "../support/processes.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Lease cycles of all processes together; `npm run test:soak` sets 100000. */
const CYCLES = Number(process.env.STORE_LEASE_CYCLES_IN_TESTS ?? 4000);

const timeout = 60_000 + CYCLES * 20;

async function freshStore(): Promise<{ readonly path: string; readonly log: string; readonly store: Store }> {
  const path = temporaryDirectory();
  const log = join(path, "holders.log");
  writeFileSync(log, "");
  return { path, log, store: await openedStore(path) };
}

/** Holding began and ended strictly in turn, under fences that rise by one. */
function expectTurns(log: string, cycles: number): void {
  const expected = Array.from({ length: cycles }, (_, n) => `+ ${n + 1}\n- ${n + 1}\n`).join("");
  const found = readFileSync(log, "utf8");
  const at = [...expected].findIndex((character, index) => found[index] !== character);
  expect(found === expected, `holders are out of turn near: ${found.slice(Math.max(0, at - 40), at + 40)}`).toBe(true);
}

test("two processes never hold one lease at once, and its fence always rises", { timeout }, async () => {
  const { path, log, store } = await freshStore();
  await done(store.leases.acquire("slots/race", "x", 1)); // makes the files
  const lock = join(path, "default/leases/slots%2Frace.lock");
  const inode = statSync(lock).ino;
  const acquired = await done(store.leases.read("slots/race"));
  if (acquired !== null) await done(store.leases.release(acquired));
  const half = `${CYCLES / 2}`;
  await Promise.all([racer(path, "lease", half, log), racer(path, "lease", half, log)]);
  const rebased = readFileSync(log, "utf8").replace(/\d+/g, (fence) => `${Number(fence) - 1}`);
  writeFileSync(log, rebased);
  expectTurns(log, CYCLES);
  expect(statSync(lock).ino).toBe(inode); // F62
});

test("two processes lose no increment of a document", { timeout }, async () => {
  const { path, store } = await freshStore();
  await Promise.all([racer(path, "count", "1000"), racer(path, "count", "1000")]);
  expect(await done(store.documents.peek("cursor/race", "n"))).toEqual({ value: 2000 });
});

describe.skipIf(noPython !== null)(
  `beside another implementation${noPython === null ? "" : ` (skipped: ${noPython})`}`,
  () => {
    test("a lease goes from one to the other and is never held by both", { timeout }, async () => {
      const { path, log } = await freshStore();
      await Promise.all([racer(path, "lease", "500", log), pythonPeer(path, "lease", "500", log)]);
      expectTurns(log, 1000);
    });

    test("a counter loses no increment of either, nor of the store's own threads (acceptance 5)", async () => {
      const { path, store } = await freshStore();
      const addOne = () =>
        done(
          store.documents.mutate("cursor/race", "n", (body) => ({
            kind: "put",
            body: { value: Number(body?.value ?? 0) + 1 },
            answer: null,
          })),
        );
      await Promise.all([
        racer(path, "count", "300"),
        pythonPeer(path, "count", "300"),
        ...Array.from({ length: 300 }, addOne),
      ]);
      expect(await done(store.documents.peek("cursor/race", "n"))).toEqual({ value: 900 });
    });

    test("what we write, it prints with the same bytes (acceptance 6)", async () => {
      const { path, store } = await freshStore();
      const numbers = [
        1,
        1.5,
        1e16,
        1e-5,
        123456789.125,
        5e-324,
        1.7976931348623157e308,
        1e22,
        0.0001,
        9007199254740993n,
      ];
      const value = [
        ...numbers.map((n) => (typeof n === "number" ? jsonFloat(n) : n)),
        18446744073709551615n,
        -0,
        "é😀\u007f\n",
      ];
      await done(store.documents.swap("kv/a", "k", null, { value, B: null, a: true, "\uffee": 1, "😀": 2 }));
      const file = join(path, "default/docs/kv%2Fa/k.doc");
      expect(await pythonPeer(path, "print", file)).toBe(readFileSync(file, "utf8"));
    });
  },
);

test("a process whose store thread is stuck in the operating system can still end (THR-3)", async () => {
  bundled("test/store/support/troubled-lane.worker.ts"); // beside the program, which starts it
  const program = fileURLToPath(bundled("test/store/support/stuck.program.ts"));
  const path = temporaryDirectory();
  const code = await new Promise((resolve) =>
    execFile(process.execPath, [program, path], { timeout: 20_000 }, (error) => resolve(error?.code)),
  );
  expect(code).toBe(7);
});

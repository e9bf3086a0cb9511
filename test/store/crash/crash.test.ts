import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundled } from "../support/bundle.ts";
import { openedStore } from "../support/filesystem.ts";
import { done } from "../support/outcome.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Processes to kill; `npm run test:soak` kills thousands. */
const KILLS = Number(process.env.STORE_KILLS_IN_TESTS ?? 500);

/** V8 without threads of its own, so that a forked copy of the process lacks nothing. */
const motherFlags = ["--single-threaded", "--v8-pool-size=0", "--no-warnings"];

test("whoever is killed while writing loses nothing it acknowledged and leaves no half and no lock behind", {
  timeout: 60_000 + KILLS * 150,
}, async () => {
  const reports = await Promise.all([1, 2].map((seed) => killWriters(Math.ceil(KILLS / 2), seed)));
  expect(reports.flatMap(({ problems }) => problems)).toEqual([]);
  expect(reports.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThanOrEqual(KILLS);
  for (const { acknowledged, kills } of reports) expect(acknowledged).toBeGreaterThan(kills / 2);
  for (const { store } of reports) {
    expect(await done(store.upkeep.inventory())).toMatchObject({ unnamed: { streams: 0 }, quarantined: 0 });
    expect(await done(store.records.list("runs/pruned", allStrictly))).not.toEqual([]);
  }
});

const allStrictly = { order: "oldest first", limit: 1000, reading: "strict" } as const;

/** Kills this many writers of a fresh store, and opens what they left. */
async function killWriters(kills: number, seed: number) {
  const path = temporaryDirectory();
  await (await openedStore(path)).close(5000);
  const program = fileURLToPath(bundled("test/store/crash/mother.program.ts"));
  const args = [...motherFlags, program, path, `${kills}`, `${seed}`];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const report: { kills: number; acknowledged: number; problems: string[] } = JSON.parse(stdout);
  return { ...report, store: await openedStore(path) };
}

import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundled } from "../support/bundle.ts";
import { openedStore } from "../support/filesystem.ts";
import { done } from "../support/outcome.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Processes to kill; a long soak sets more. */
const KILLS = Number(process.env.CRONSTABLE_STORE_KILLS ?? 2000);

/** V8 without threads of its own, so that a forked copy of the process lacks nothing. */
const motherFlags = ["--single-threaded", "--v8-pool-size=0", "--no-warnings"];

test.concurrent.each([1, 2])(
  "whoever is killed while writing loses nothing it acknowledged and leaves no half and no lock behind, %i",
  { timeout: 60_000 + KILLS * 100 },
  async (seed) => {
    const path = temporaryDirectory();
    await (await openedStore(path)).close(5000);
    mkdirSync(join(path, "unrelated"));
    const program = fileURLToPath(bundled("test/store/crash/mother.program.ts"));
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...motherFlags,
      program,
      path,
      `${Math.ceil(KILLS / 2)}`,
      `${seed}`,
    ]);
    const { kills, acknowledged, problems } = JSON.parse(stdout);
    expect(problems).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(KILLS / 2);
    expect(acknowledged).toBeGreaterThan(kills);

    const store = await openedStore(path);
    expect(await done(store.upkeep.inventory())).toMatchObject({ unnamed: 0, quarantined: 0 });
    expect(
      (await done(store.records.list("runs/pruned", { order: "oldest first", limit: 99, reading: "strict" }))).length,
    ).toBeGreaterThan(0);
  },
);

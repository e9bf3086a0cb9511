import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/load.ts";
import type { DagConfig, JobConfig, PoolConfig } from "../../../src/config/model.ts";
import { problemText } from "../../../src/config/problem.ts";
import { someFacts } from "../../config/loading.ts";
import { drawnTasks, ITEMS } from "./drawn-tasks.ts";
import type { Random } from "./random.ts";
import { type Behaviour, cronText, type Timetable } from "./sim-job.ts";

/** A DAG of a simulated world: its configuration, and when it is due as plain arithmetic; null: it is only triggered. */
export interface SimDag {
  readonly config: DagConfig;
  readonly timetable: Timetable | null;
}

const MINUTE = 60_000;

/** Draws a DAG of tasks of every kind, in some of which pools have a say. */
export function drawDag(name: string, random: Random, pools: ReadonlyMap<string, PoolConfig>): SimDag {
  const periodMinutes = random.pick([null, 30, 30, 60, 20]);
  const offsetMs = random.between(0, 19) * MINUTE;
  const timetable = periodMinutes === null ? null : { periodMs: periodMinutes * MINUTE, offsetMs };
  const frame =
    timetable === null
      ? []
      : [
          `    schedule: "${cronText(timetable)}"`,
          `    onMissed: ${random.pick(["skip", "run-once", "run-all"])}`,
          `    catchupJitterSeconds: ${random.pick([0, 0, 60])}`,
        ];
  const tasks = drawnTasks(random, [...pools.values()]);
  const text = [
    "state:",
    "  path: /simulated",
    ...(pools.size === 0 ? [] : ["pools:"]),
    ...[...pools.values()].map((pool) => `  ${pool.name}: {slots: ${pool.slots}}`),
    "dags:",
    `  - name: ${name}`,
    `    retainRuns: ${random.pick([2, 5, 50])}`,
    ...frame,
    "    tasks:",
    ...tasks,
    "",
  ].join("\n");
  return { config: loaded(text), timetable };
}

/** What the command of a task does, drawn for one run of it. */
export function taskBehaviour({ command }: JobConfig, random: Random): Behaviour {
  const lastsMs = random.chance(0.3) ? random.between(0, 500) : random.between(1_000, 150_000);
  const diesInMs = random.chance(0.8) ? random.between(0, 500) : random.between(500, 30_000);
  const usual = { lastsMs, diesInMs, fails: random.chance(0.01) ? "to launch" : "never", publishes: null } as const;
  switch (command) {
    case "look":
      return { ...usual, lastsMs: random.between(0, 5_000), exitCode: random.chance(0.6) ? 1 : 0 };
    case "source":
      return { ...usual, exitCode: random.chance(0.1) ? 1 : 0, publishes: { key: "list", text: LIST } };
    default:
      return { ...usual, exitCode: random.chance(0.2) ? 1 : 0 };
  }
}

const LIST = JSON.stringify(Array.from({ length: ITEMS }, (_, index) => index));

function loaded(text: string): DagConfig {
  const directory = mkdtempSync(join(tmpdir(), "cronstable-sim-"));
  try {
    const path = join(directory, "cron.yaml");
    writeFileSync(path, text);
    const result = loadConfig(path, someFacts);
    if (!result.ok) throw new Error(result.problems.map(problemText).join("\n"));
    const [dag] = result.config.dags;
    if (dag === undefined) throw new Error("a drawn DAG is one");
    return dag;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

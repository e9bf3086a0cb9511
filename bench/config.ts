import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { hostFacts } from "../src/config/facts.ts";
import { jobSetId } from "../src/config/fingerprint.ts";
import { loadConfig } from "../src/config/load.ts";
import type { Config } from "../src/config/model.ts";
import { problemsText } from "../src/config/problem.ts";
import type { BenchRow } from "./row.ts";

const jobs = 10_000;
const rounds = 5;

/** What loading a large configuration costs, beside the YAML library alone on the same text. */
export async function configRows(): Promise<readonly BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), "cronstable-bench-"));
  try {
    return rowsIn(join(directory, "jobs.yaml"));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function rowsIn(path: string): readonly BenchRow[] {
  const text = manyJobs();
  writeFileSync(path, text);
  let floor = Number.POSITIVE_INFINITY;
  let ours = Number.POSITIVE_INFINITY;
  let ids = Number.POSITIVE_INFINITY;
  // In turns, so that what else the machine does falls on both; the best round of each counts.
  for (let round = 0; round < rounds; round++) {
    floor = Math.min(floor, timed(() => parseDocument(text, { schema: "failsafe" })).ms);
    const loaded = timed(() => load(path));
    ours = Math.min(ours, loaded.ms);
    ids = Math.min(ids, timed(() => jobSetId(loaded.result.jobs)).ms);
  }
  return [
    {
      name: `load ${jobs} jobs of YAML (${(text.length / 1e6).toFixed(1)} MB)`,
      ours,
      floor,
      unit: "ms",
      ratio: ours / floor,
      target: "at most 3 x parsing alone",
    },
    { name: `job-set id of ${jobs} jobs`, ours: ids, floor: null, unit: "ms", ratio: null },
  ];
}

function load(path: string): Config {
  const loaded = loadConfig(path, hostFacts(Date.now()));
  if (loaded.ok) return loaded.config;
  throw new Error(problemsText(loaded.problems));
}

function timed<T>(act: () => T): { readonly ms: number; readonly result: T } {
  const start = performance.now();
  const result = act();
  return { ms: performance.now() - start, result };
}

/** Jobs as people have them: most plain, some with a zone, variables, retries. */
function manyJobs(): string {
  const lines = ["defaults:", "  captureStdout: true", "jobs:"];
  for (let index = 0; index < jobs; index++) {
    lines.push(`  - name: job-${index}`, `    command: /usr/local/bin/task-${index % 97} --shard ${index}`);
    lines.push(`    schedule: "${index % 60} ${index % 24} * * *"`);
    if (index % 3 === 0) lines.push("    timezone: Europe/Berlin");
    if (index % 5 === 0) lines.push("    environment:", "      - key: SHARD", `        value: "${index}"`);
    if (index % 7 === 0)
      lines.push(
        "    onFailure:",
        "      retry:",
        "        maximumRetries: 3",
        "        initialDelay: 5",
        "        maximumDelay: 60",
        "        backoffMultiplier: 2",
      );
  }
  return `${lines.join("\n")}\n`;
}

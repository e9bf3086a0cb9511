import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { LoadFacts } from "../../src/config/facts.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config, JobConfig } from "../../src/config/model.ts";
import { problemText } from "../../src/config/problem.ts";

/** Files by name in a directory of their own. */
export function filesIn(files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = mkdtempSync(join(tmpdir(), "cronstable-config-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}

/** A host where nothing surprises: UTC, root, no variables, one user. */
export const someFacts: LoadFacts = {
  environment: {},
  hostName: "node-1",
  platform: "posix",
  workingDirectory: "/work-dir",
  homeDirectory: "/home/daemon",
  superuser: true,
  nice: 0,
  hostZone: "Europe/Berlin",
  nowMs: Date.UTC(2026, 0, 15),
  users: {
    userByName: (name) => (name === "alice" ? { name, uid: 1000, gid: 1000, home: "/home/alice" } : null),
    userById: (uid) => (uid === 1000 ? { name: "alice", uid, gid: 1000, home: "/home/alice" } : null),
    groupByName: (name) => (name === "staff" ? { name, gid: 50 } : null),
  },
};

/** What a load found wrong, one text each, file names without the directory that `filesIn` made; empty when it succeeded. */
export function problemsAt(path: string, facts: Partial<LoadFacts> = {}): string[] {
  const result = loadConfig(path, { ...someFacts, ...facts });
  return result.ok
    ? []
    : result.problems.map((problem) => problemText(problem).replace(/[^\s:]*\/cronstable-config-\w+\//g, ""));
}

/** What is wrong with this text as a file of its own. */
export function problemsOf(text: string | Uint8Array, facts: Partial<LoadFacts> = {}, name = "cron.yaml"): string[] {
  return problemsAt(join(filesIn({ [name]: text }), name), facts);
}

export function configAt(path: string, facts: Partial<LoadFacts> = {}): Config {
  const result = loadConfig(path, { ...someFacts, ...facts });
  if (!result.ok) throw new Error(result.problems.map(problemText).join("\n"));
  return result.config;
}

/** The configuration that this text is, beside other files that it may include. */
export function configOf(
  text: string | Uint8Array,
  facts: Partial<LoadFacts> = {},
  name = "cron.yaml",
  beside: Readonly<Record<string, string>> = {},
): Config {
  return configAt(join(filesIn({ ...beside, [name]: text }), name), facts);
}

/** The only job of a configuration. */
export function onlyJob(config: Config): JobConfig {
  const [job, ...others] = config.jobs;
  if (job === undefined || others.length > 0) throw new Error(`expected one job, found ${config.jobs.length}`);
  return job;
}

/** A file of one job named `a`, with these lines beside its name, command and schedule. */
export function jobWith(...lines: readonly string[]): string {
  const own = ["command: echo hi", 'schedule: "@daily"'].filter(
    (line) => !lines.some((other) => other.startsWith(`${line.split(":")[0]}:`)),
  );
  return ["jobs:", "  - name: a", ...[...own, ...lines].map((line) => `    ${line}`), ""].join("\n");
}

import type { z } from "zod";
import type { dagRunDocument, dagRuns } from "../../contract/wire/dags.ts";

type Runs = z.infer<typeof dagRuns>["runs"];
type Run = z.infer<typeof dagRunDocument>;

/** Runs of a DAG, newest first, a line each. */
export function runLines(runs: Runs): string[] {
  if (runs.length === 0) return ["no runs"];
  return table([
    ["run", "kind", "state", "date", "created", "tasks"],
    ...runs.map(({ runKey, kind, state, logicalDate, createdAt, taskStates }) => [
      runKey,
      kind,
      state,
      logicalDate ?? "-",
      instantText(createdAt),
      Object.entries(taskStates)
        .map(([name, count]) => `${count} ${name}`)
        .join(", "),
    ]),
  ]);
}

/** One run with its tasks, a line each; a gate that waits says how it is decided. */
export function taskLines(run: Run): string[] {
  const { dag, runKey, kind, state, logicalDate, createdAt } = run;
  const date = logicalDate === null ? "" : `, for ${logicalDate}`;
  const tasks = Object.entries(run.tasks).map(([key, task]) => [
    key,
    task.awaitingApproval === true ? "waits for a decision" : textOf(task.state),
    textOf(task.attempt),
    textOf(task.host),
    typeof task.startedAt === "number" ? instantText(task.startedAt) : "-",
    tookText(task.startedAt, task.finishedAt),
    textOf(task.exitCode),
    textOf(task.failReason),
  ]);
  const gates = Object.entries(run.tasks)
    .filter(([, task]) => task.awaitingApproval === true)
    .map(([key]) => `decide it: cronstable dag approve ${quoted(dag)} ${quoted(runKey)} ${quoted(key)}   (or reject)`);
  return [
    `${dag} ${runKey}: ${state} (${kind}${date}, created ${instantText(createdAt)})`,
    ...table([["task", "state", "failures", "host", "started", "took", "exit", "reason"], ...tasks]),
    ...gates,
  ];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? "-" : String(value);
}

function instantText(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

function tookText(startedAt: unknown, finishedAt: unknown): string {
  if (typeof startedAt !== "number" || typeof finishedAt !== "number") return "-";
  return `${(finishedAt - startedAt).toFixed(1)} s`;
}

/** As a shell takes it. */
function quoted(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Answers of the API as people read them. Pure; whatever a daemon sends, a line stays a line. */

import type { Dag, DagRunDocument, DagRunSummary, RecoveryAnswer } from "../../contract/wire/dags.ts";
import { oneLine } from "./one-line.ts";

type Task = DagRunDocument["tasks"][string];

/** All DAGs, a line each. */
export function dagLines(dags: readonly Dag[]): string[] {
  if (dags.length === 0) return ["no workflows"];
  return table([
    ["name", "schedule", "next", "tasks", "runs", "latest", "waiting gates"],
    ...dags.map(({ name, enabled, schedule, nextFireAt, tasks, totalRuns, latestRun, awaiting }) => [
      name,
      schedule === undefined ? "by hand" : `${schedule}${enabled ? "" : " (disabled)"}`,
      nextFireAt ?? "-",
      String(tasks.length),
      textOf(totalRuns),
      latestRun === undefined ? "-" : `${latestRun.state} ${instantText(latestRun.createdAt)}`,
      textOf(awaiting?.length),
    ]),
  ]);
}

/** Runs of a DAG, newest first, a line each. */
export function runLines(runs: readonly DagRunSummary[]): string[] {
  if (runs.length === 0) return ["no runs"];
  return table([
    ["run", "kind", "state", "date", "created", "tasks"],
    ...runs.map(({ runKey, kind, state, logicalDate, createdAt, taskStates }) => [
      runKey,
      String(kind),
      String(state),
      logicalDate ?? "-",
      instantText(createdAt),
      Object.entries(taskStates)
        .map(([name, count]) => `${count} ${name}`)
        .join(", "),
    ]),
  ]);
}

/** One run with its tasks, a line each; a gate that waits says how it is decided. */
export function taskLines(run: DagRunDocument): string[] {
  const { dag, runKey, kind, state, logicalDate, createdAt } = run;
  const date = logicalDate === null ? "" : `, for ${logicalDate}`;
  const tasks = Object.entries(run.tasks).map(([key, task]) => [
    key,
    stateText(task),
    textOf(task.attempt),
    textOf(task.host),
    typeof task.startedAt === "number" ? instantText(task.startedAt) : "-",
    tookText(task.startedAt, task.finishedAt),
    textOf(task.exitCode),
    remarkText(task),
  ]);
  const gates = Object.entries(run.tasks).flatMap(([key, task]) => (isWaitingGate(task) ? [decideText(run, key)] : []));
  return [
    oneLine(`${dag} ${runKey}: ${state} (${kind}${date}, created ${instantText(createdAt)})`),
    ...table([["task", "state", "failures", "host", "started", "took", "exit", "reason"], ...tasks]),
    ...gates.map((gate) => `decide it: ${gate}   (or reject)`),
  ];
}

/** What has become of a run's tasks between two looks at it; null: it is looked at for the first time. */
export function changesOf(before: DagRunDocument | null, now: DagRunDocument): string[] {
  return Object.entries(now.tasks).flatMap(([key, task]) => {
    const text = stateText(task);
    const previous = before?.tasks[key];
    const isNews =
      previous === undefined ? text !== "pending" : text !== stateText(previous) || task.attempt !== previous.attempt;
    if (!isNews) return [];
    const why = typeof task.failReason === "string" && task.state !== "success" ? ` (${task.failReason})` : "";
    const how = isWaitingGate(task) ? `: ${decideText(now, key)}` : "";
    return [oneLine(`${key}: ${text}${why}${how}`)];
  });
}

/** What a recovery would do, as its preview has it. */
export function planLines({ tasks, preserved, resetMappings, configurationChanged }: RecoveryAnswer): string[] {
  const names = (of: readonly string[] | undefined): string =>
    of === undefined || of.length === 0 ? "nothing" : of.join(", ");
  const lines = [`runs again: ${names(tasks)}`, `reused:     ${names(preserved)}`];
  if ((resetMappings ?? []).length > 0) lines.push(`fans out anew: ${names(resetMappings)}`);
  if (configurationChanged === true)
    lines.push("the configuration is not known to be the one this run had: --allow-config-change accepts that");
  return lines.map(oneLine);
}

function isWaitingGate(task: Task): boolean {
  return task.awaitingApproval === true;
}

function stateText(task: Task): string {
  return isWaitingGate(task) ? "waits for a decision" : textOf(task.state);
}

function decideText({ dag, runKey }: DagRunDocument, taskKey: string): string {
  return oneLine(`cronstable dag approve ${[dag, runKey, taskKey].map(shellWord).join(" ")}`);
}

/** Why a task is what it is: its failure, whose decision, whose result. */
function remarkText({ failReason, approval, reusedFrom }: Task): string {
  if (typeof failReason === "string") return failReason;
  if (typeof reusedFrom === "string") return `from ${reusedFrom}`;
  if (typeof approval !== "object" || approval === null || !("decision" in approval) || !("by" in approval)) return "-";
  return `${approval.decision} by ${approval.by}`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const shown = rows.map((row) => row.map(oneLine));
  const widths: number[] = [];
  for (const row of shown)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  return shown.map((row) =>
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
  const at = new Date(epochSeconds * 1000);
  return Number.isNaN(at.getTime()) ? "-" : at.toISOString().replace(/\.\d+Z$/, "Z");
}

function tookText(startedAt: unknown, finishedAt: unknown): string {
  if (typeof startedAt !== "number" || typeof finishedAt !== "number") return "-";
  return `${(finishedAt - startedAt).toFixed(1)} s`;
}

/** As a shell takes it. */
function shellWord(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

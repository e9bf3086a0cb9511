import type { RunDocument } from "../../../src/dag/run-document.ts";
import type { DaemonId, Fact, SimProcess } from "./facts.ts";
import type { WorldTime } from "./world-time.ts";

/** What happened lately, a line each, for whoever has to understand a failure. */
export interface Transcript {
  note(fact: Fact): void;
  say(daemon: DaemonId, line: string): void;
  /** The newest lines, oldest first; only those that name one of `words`, when there are any. */
  tail(lines: number, words: readonly string[]): string;
  readonly figures: Figures;
}

/** What a world went through. */
export interface Figures {
  daemonStarts: number;
  kills: number;
  stops: number;
  reboots: number;
  clockMoves: number;
  faults: number;
  operations: number;
  scheduled: number;
  refused: number;
  runs: number;
  retries: number;
  catchUps: number;
  boots: number;
  dagRuns: number;
  taskLaunches: number;
  decisions: number;
  pooled: number;
}

const KEPT_LINES = 60_000;

export function transcript(time: WorldTime): Transcript {
  const lines: string[] = [];
  const figures = newFigures();
  const write = (who: string, what: string): void => {
    lines.push(`${new Date(time.now()).toISOString().slice(5, 23)}  ${who.padEnd(9)}  ${what}`);
    if (lines.length > 2 * KEPT_LINES) lines.splice(0, KEPT_LINES);
  };
  return {
    figures,
    note(fact) {
      count(figures, fact);
      const line = describe(fact);
      if (line !== null) write(whoseIs(fact), line);
    },
    say: ({ host, proc }, line) => write(`${host}#${Number.parseInt(proc, 16)}`, line),
    tail: (count, words) =>
      lines
        .filter((line) => words.length === 0 || words.some((word) => line.includes(word)))
        .slice(-count)
        .join("\n"),
  };
}

function newFigures(): Figures {
  return {
    daemonStarts: 0,
    kills: 0,
    stops: 0,
    reboots: 0,
    clockMoves: 0,
    faults: 0,
    operations: 0,
    scheduled: 0,
    refused: 0,
    runs: 0,
    retries: 0,
    catchUps: 0,
    boots: 0,
    dagRuns: 0,
    taskLaunches: 0,
    decisions: 0,
    pooled: 0,
  };
}

function count(figures: Figures, fact: Fact): void {
  switch (fact.kind) {
    case "daemon started":
      figures.daemonStarts++;
      return;
    case "daemon ended":
      if (fact.how === "killed") figures.kills++;
      else figures.stops++;
      return;
    case "rebooted":
      figures.reboots++;
      return;
    case "clock moved":
      figures.clockMoves++;
      return;
    case "operation":
      figures.operations++;
      if (fact.fate !== "answered") figures.faults++;
      return;
    case "process started":
      if (fact.process.task === null) figures.runs++;
      else figures.taskLaunches++;
      if (fact.process.job.launch.pool !== null) figures.pooled++;
      return;
    case "run written":
      // Nothing has changed of it yet: it is new.
      if (fact.run !== null && fact.run.updatedAt === fact.run.createdAt) figures.dagRuns++;
      return;
    case "gate decided":
      figures.decisions++;
      return;
    case "refused":
      figures.refused++;
      return;
    case "launched":
      if (fact.trigger.kind === "schedule") figures.scheduled++;
      if (fact.trigger.kind === "retry") figures.retries++;
      if (fact.trigger.kind === "catch-up") figures.catchUps++;
      if (fact.trigger.kind === "boot") figures.boots++;
      return;
    default:
      return;
  }
}

function whoseIs(fact: Fact): string {
  if ("daemon" in fact) return `${fact.daemon.host}#${Number.parseInt(fact.daemon.proc, 16)}`;
  if ("process" in fact) return fact.process.daemon.host;
  return "host" in fact ? fact.host : "world";
}

function describe(fact: Fact): string | null {
  switch (fact.kind) {
    case "launched": {
      const { trigger, job, runId, wall } = fact;
      const slot =
        "slot" in trigger ? ` ${short(trigger.slot)}` : trigger.kind === "retry" ? ` #${trigger.attempt}` : "";
      return `${job.name}: launched (${trigger.kind}${slot}) ${runId.slice(-6)} wall ${short(wall)}`;
    }
    case "process started":
      return `${nameOf(fact.process)}: process ${fact.process.pid} started (${fact.process.runId.slice(-6)})`;
    case "process ended":
      return `${nameOf(fact.process)}: process ${fact.process.pid} ended (${fact.process.runId.slice(-6)})${fact.how === "killed" ? ", killed" : ""}`;
    case "run written":
      return `${fact.dag} ${fact.runKey}: ${fact.run === null ? "deleted" : statesOf(fact.run)}`;
    case "pool written":
      return `${fact.document.pool}: ${fact.document.entries.map(({ name, state, slots, attempt }) => `${name}/${attempt} ${state} ${slots}`).join(", ")}`;
    case "dag edited":
      return `${fact.dag}: edited`;
    case "gate decided":
      return `${fact.dag} ${fact.runKey}: ${fact.taskKey} decided`;
    case "finished":
      return `${fact.job.name}: finished ${fact.runId.slice(-6)} ${fact.row === null ? "replaced" : fact.row.kind === "ran" ? fact.row.outcome : fact.row.kind}`;
    case "refused":
      return `${fact.job}: refused (${fact.trigger.kind}${fact.slot === null ? "" : ` ${short(fact.slot)}`}): ${fact.reason.kind}`;
    case "retry armed":
      return `${fact.job}: retry #${fact.attempt} armed ${short(fact.armedAt)}, due ${short(fact.dueAt)}`;
    case "retry settled":
      return `${fact.job}: retry #${fact.attempt} settled: ${fact.reason}`;
    case "operation":
      return fact.fate === "answered"
        ? null
        : `${fact.operation} ${fact.target}: ${fact.fate}${fact.body === null ? "" : ` ${brief(fact.body)}`}`;
    case "landed":
      return `landed ${fact.stream} ${brief(fact.body)}`;
    case "clock moved":
      return `clock ${fact.how} by ${fact.byMs} ms`;
    case "configured":
      return `configured ${fact.jobs.length} jobs, wall ${short(fact.wall)}`;
    case "paused":
    case "resumed":
      return `${fact.job}: ${fact.kind} by an operator`;
    case "owner changed":
      return `owner: ${fact.owner ?? "nobody"}`;
    case "daemon started":
      return `daemon started, wall ${short(fact.wall)}`;
    case "daemon ended":
      return `daemon ${fact.how}`;
    case "spawned":
      return null;
    default:
      return fact.kind;
  }
}

function nameOf({ job, task }: SimProcess): string {
  return task === null ? job.name : `${task.dag} ${task.runKey}: ${task.taskKey} (attempt ${task.attempt})`;
}

function statesOf({ state, tasks }: RunDocument): string {
  const each = [...tasks].map(([key, task]) => {
    const claim = task.proc === null ? "" : ` by ${Number.parseInt(task.proc, 16)} pid ${task.pid}`;
    return `${key} ${task.state}/${task.attempt}${claim}`;
  });
  return `${state}: ${each.join(", ")}`;
}

function brief(body: object): string {
  const text = JSON.stringify(body);
  return text.length > 330 ? `${text.slice(0, 330)}…` : text;
}

function short(at: number): string {
  return new Date(at).toISOString().slice(8, 19);
}

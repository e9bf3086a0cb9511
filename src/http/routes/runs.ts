import type { ControlPlane } from "../../contract/control-plane.ts";
import type { HistoryRow } from "../../contract/history.ts";
import type { JobView } from "../../contract/job-view.ts";
import type { LiveOutput } from "../../contract/launcher.ts";
import { type FleetRuns, fleetRuns, type RunDetail, runDetail } from "../../contract/wire/run.ts";
import { readInstant } from "../../journal/instant.ts";
import { finishInstant } from "../../journal/ledger/latest.rules.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import type { Sliced } from "../../schedule/fleet.ts";
import { boundedCount } from "../../schedule/query.ts";
import { type Answer, json, ownRefusal, refusal } from "../answer.ts";
import { fleetRunRows } from "../bounds.ts";
import type { Query, Route } from "../call.ts";
import { countDoc, errorDoc, jsonDoc, textDoc } from "../docs.ts";
import { endedOutput } from "../ended-output.ts";
import { inTurns } from "../in-turns.ts";
import { instantOrNull, outcomeOf, runPayload, triggerPayload } from "../payloads/run.ts";
import { quoted } from "../quoted.ts";
import { jobNotFound } from "./jobs.ts";

/** Runs of all jobs, and one run by its id with its log: what the dashboard needs beyond the older routes (ui M). */
export function runRoutes({ control, clock }: { readonly control: ControlPlane; readonly clock: Clock }): Route[] {
  return [
    {
      method: "GET",
      path: "/runs",
      scope: "view",
      doc: {
        operationId: "listRuns",
        tag: "runs",
        summary: "Runs of all jobs that this node keeps, newest first",
        query: {
          since: { type: "string", about: "Finished at or after this instant (ISO 8601)." },
          until: { type: "string", about: "Finished before this instant (ISO 8601)." },
          outcome: { type: "string", about: "One or more outcomes, separated by commas." },
          kind: { type: "string", about: "One or more kinds of trigger, separated by commas." },
          q: { type: "string", about: "Part of the job's name, in any case." },
          limit: countDoc("How many runs to show.", fleetRunRows),
          before: { type: "string", about: "`next` of an earlier answer: go on from there." },
        },
        answers: { 200: jsonDoc("The runs.", fleetRuns), 400: errorDoc("An instant or place cannot be read.") },
      },
      async handle({ query }) {
        const asked = readQuestion(query);
        return "problem" in asked ? ownRefusal(400, asked.problem) : json(await inTurns(clock, runsOf(control, asked)));
      },
    },
    {
      method: "GET",
      path: "/jobs/{name}/runs/{run_id}",
      scope: "view",
      doc: {
        operationId: "getJobRun",
        tag: "runs",
        summary: "One run, live or finished",
        answers: { 200: jsonDoc("The run.", runDetail), 404: errorDoc("This node keeps no such run.") },
      },
      handle({ params: { name = "", run_id = "" } }) {
        const view = control.job(name);
        if (view === null) return jobNotFound(name);
        const detail = detailOf(control, view, run_id);
        return detail === null ? runNotFound(name, run_id) : json(detail);
      },
    },
    {
      method: "GET",
      path: "/jobs/{name}/runs/{run_id}/logs",
      scope: "view",
      doc: {
        operationId: "streamJobRunLogs",
        tag: "runs",
        summary:
          "Output of one run: live, kept in memory, or archived; lines are numbered, and `Last-Event-ID` goes on from there",
        query: { after: { type: "integer", about: "Number of the last line that is known." } },
        answers: {
          200: textDoc(
            "Events `line` with ids, `gap` where lines are kept no more, at last one `end`.",
            "text/event-stream",
          ),
          404: errorDoc("This node keeps no such run."),
        },
      },
      async handle({ params: { name = "", run_id = "" }, headers, query }) {
        const view = control.job(name);
        if (view === null) return jobNotFound(name);
        if (detailOf(control, view, run_id) === null) return runNotFound(name, run_id);
        const { output, from } = await outputOf(control, view, run_id);
        const lastKnown = Number(headers["last-event-id"] ?? query.get("after") ?? 0);
        const after = Number.isSafeInteger(lastKnown) && lastKnown > 0 ? lastKnown : 0;
        const end = () => {
          const row = rowOf(control.job(name), run_id);
          return { runId: run_id, outcome: row === null ? null : outcomeOf(row), source: from };
        };
        return { kind: "log", follow: { output, numbered: { after, end } } };
      },
    },
  ];
}

function runNotFound(name: string, runId: string): Answer {
  return refusal(404, `job ${quoted(name)} has no run ${quoted(runId)}`);
}

function rowOf(view: JobView | null, runId: string): HistoryRow | null {
  return view?.rows.find((row) => row.kind === "ran" && row.runId === runId) ?? null;
}

function detailOf(control: ControlPlane, view: JobView, runId: string): RunDetail | null {
  const { name } = view.config;
  const live = view.instances.find((instance) => instance.runId === runId);
  if (live !== undefined)
    return {
      job: name,
      runId,
      status: "running",
      pid: live.pid,
      run: null,
      trigger: triggerPayload(live.trigger),
      started_at: instantOrNull(live.startedAt),
      output: "live",
    };
  const row = rowOf(view, runId);
  if (row?.kind !== "ran") return null;
  const inMemory = control.runOutput(name, runId) !== null;
  return {
    job: name,
    runId,
    status: "finished",
    pid: null,
    run: runPayload(row, "with series"),
    ...(row.trigger === null ? {} : { trigger: triggerPayload(row.trigger) }),
    started_at: instantOrNull(row.startedAt),
    output: inMemory ? "memory" : view.config.archiveOutput && control.archivesOutput ? "archive" : null,
  };
}

interface FoundOutput {
  readonly output: LiveOutput | null;
  readonly from: "live" | "memory" | "archive" | null;
}

async function outputOf(control: ControlPlane, view: JobView, runId: string): Promise<FoundOutput> {
  const { name } = view.config;
  const kept = control.runOutput(name, runId);
  const isLive = view.instances.some((instance) => instance.runId === runId);
  if (kept !== null) return { output: kept.lines, from: isLive ? "live" : "memory" };
  const row = rowOf(view, runId);
  const archived = row === null ? null : await control.archivedOutput(name, finishInstant(row));
  if (archived === null) return { output: null, from: null };
  return { output: endedOutput(archived.lines, archived.droppedLines), from: "archive" };
}

interface Question {
  readonly since: EpochMs;
  readonly until: EpochMs;
  readonly outcomes: ReadonlySet<string> | null;
  readonly kinds: ReadonlySet<string> | null;
  readonly text: string;
  readonly limit: number;
  readonly before: Place | null;
}

/** Rows are in order of their finish; of those that finished at once, so many have been shown. */
interface Place {
  readonly at: EpochMs;
  readonly shown: number;
}

function readQuestion(query: Query): Question | { readonly problem: string } {
  const since = readBound(query.get("since"), Number.NEGATIVE_INFINITY);
  const until = readBound(query.get("until"), Number.POSITIVE_INFINITY);
  if (since === null) return { problem: "since must be an ISO-8601 timestamp" };
  if (until === null) return { problem: "until must be an ISO-8601 timestamp" };
  const before = readPlace(query.get("before"));
  if (before === "unreadable") return { problem: "before must be the next of an earlier answer" };
  return {
    since,
    until,
    outcomes: readWords(query.get("outcome")),
    kinds: readWords(query.get("kind")),
    text: (query.get("q") ?? "").toLowerCase(),
    limit: boundedCount(query.get("limit"), fleetRunRows),
    before,
  };
}

function readBound(text: string | undefined, otherwise: number): number | null {
  return text === undefined || text === "" ? otherwise : readInstant(text);
}

function readPlace(text: string | undefined): Place | "unreadable" | null {
  if (text === undefined || text === "") return null;
  const [, at, shown] = /^(\d{1,16}(?:\.\d{1,3})?)~(\d{1,9})$/.exec(text) ?? [];
  return at === undefined || shown === undefined ? "unreadable" : { at: Number(at), shown: Number(shown) };
}

function readWords(text: string | undefined): ReadonlySet<string> | null {
  const words = (text ?? "").split(",").filter(Boolean);
  return words.length === 0 ? null : new Set(words);
}

interface Found {
  readonly job: string;
  readonly row: HistoryRow;
  readonly at: EpochMs;
  readonly order: number;
}

function* runsOf(control: ControlPlane, asked: Question): Sliced<FleetRuns> {
  const { before, limit } = asked;
  // Of those at the very instant to go on from, the ones that were shown come first again.
  const wanted = limit + 1 + (before?.shown ?? 0);
  let found: Found[] = [];
  let order = 0;
  for (const { config, rows } of control.jobs()) {
    for (const row of rows) {
      const at = finishInstant(row);
      order++;
      if (isAskedFor(asked, config.name, row, at)) found.push({ job: config.name, row, at, order });
    }
    if (found.length > 4 * wanted) found = newest(found, wanted);
    yield;
  }
  const sorted = newest(found, wanted);
  const skipped = before === null ? 0 : Math.min(before.shown, sorted.filter(({ at }) => at === before.at).length);
  const shown = sorted.slice(skipped, skipped + limit);
  const last = shown.at(-1);
  const hasMore = sorted.length > skipped + limit;
  const alike = sorted.slice(0, skipped + limit).filter(({ at }) => at === last?.at).length;
  return {
    runs: shown.map(({ job, row }) => ({ job, ...runPayload(row) })),
    next: hasMore && last !== undefined ? `${last.at}~${alike}` : null,
    source: "memory",
  };
}

function isAskedFor(
  { since, until, before, outcomes, kinds, text }: Question,
  job: string,
  row: HistoryRow,
  at: EpochMs,
) {
  if (at < since || at >= until || (before !== null && at > before.at)) return false;
  if (outcomes !== null && !outcomes.has(outcomeOf(row))) return false;
  if (kinds !== null && !kinds.has(kindOf(row))) return false;
  return text === "" || job.toLowerCase().includes(text);
}

function kindOf(row: HistoryRow): string {
  if (row.kind === "skipped") return "schedule";
  return row.kind === "ran" && row.trigger !== null ? row.trigger.kind : "";
}

function newest(found: readonly Found[], count: number): Found[] {
  return [...found].sort((a, b) => b.at - a.at || b.order - a.order).slice(0, count);
}

/**
 * What a run that is gone comes to: its row, the reports in order, the retry (running 8, 9.3). The numbered rules are in job.rules.ts.
 */
import type { RanRow } from "../contract/history.ts";
import type { RunId, RunResult } from "../contract/run.ts";
import type { EpochMs } from "../platform/clock.ts";
import { endLadder, gone, identityOf } from "./admission.rules.ts";
import type { Completion, JobEffect, JobState, Start } from "./job-state.ts";
import { afterFailure, endsLadder, type Ladder } from "./ladder.rules.ts";
import { effects, joined, log, type Turn, unchanged } from "./turn.ts";

/** The bookkeeping of one run that is gone (running 8), then the requests that waited for it, then the start that did. */
export function finished(state: JobState, runId: RunId, result: RunResult): Turn {
  const run = state.runs.get(runId);
  if (run === undefined) return unchanged(state);
  const runs = new Map(state.runs);
  runs.delete(runId);
  const turn = judged({ ...state, runs }, identityOf(run), result);
  return gone(turn.state, runId, turn.effects);
}

function judged(state: JobState, run: Start, result: RunResult): Turn {
  const { name } = run.job;
  switch (result.stopped) {
    case "replaced": {
      const said = log("info", `Job ${name} was replaced by a newer instance`);
      return effects(state, said, { kind: "record", run, result, row: null });
    }
    case "cancelled": {
      const row: RanRow = { ...ranRow(run, result), outcome: "cancelled", failReason: "cancelled via web UI" };
      return joined(endHeldLadder(state, run, "cancelled"), [{ kind: "record", run, result, row }]); // F-25
    }
    case "timeout":
    case null:
      return concluded(state, run, result);
  }
}

function concluded(state: JobState, run: Start, result: RunResult): Turn {
  const { failReason, finishedAt } = result;
  const outcome = failReason === null ? "success" : "failure";
  const row: RanRow = { ...ranRow(run, result), outcome, failReason };
  const reason = failReason === null ? "None" : `'${failReason}'`;
  const said: JobEffect[] = [
    log(
      "info",
      `Job ${run.job.name} exit code ${result.exitCode}; has stdout: ${hasOutput(result.stdout)}, has stderr: ${hasOutput(result.stderr)}; fail_reason: ${reason}`,
    ),
    { kind: "record", run, result, row },
  ];
  const known = state.lastVerdict;
  const lastVerdict = known !== null && known.finishedAt > finishedAt ? known : ({ outcome, finishedAt } as const);
  const next = { ...state, lastVerdict };
  if (state.stopping && outcome === "failure") return effects(next, ...said); // J6
  const completion: Completion = { run, result, stage: "queued" };
  return joined(workOnCompletions({ ...next, completions: [...state.completions, completion] }), said);
}

/** Begins the first queued completion, if none is under way (J5). */
function workOnCompletions(state: JobState): Turn {
  const [first, ...rest] = state.completions;
  if (first === undefined || first.stage !== "queued") return unchanged(state);
  const { run, result } = first;
  const reporting: JobState = { ...state, completions: [{ ...first, stage: "reporting" }, ...rest] };
  if (result.failReason === null) {
    const ended = endHeldLadder(reporting, run, "succeeded"); // F-24
    return effects(ended.state, ...ended.effects, { kind: "report", hook: "onSuccess", run, result });
  }
  const output: JobEffect[] = [];
  if (result.stdout !== null && result.stdout.text !== "")
    output.push(log("info", `Job ${run.job.name} STDOUT:\n${result.stdout.text.trimEnd()}`));
  if (result.stderr !== null && result.stderr.text !== "")
    output.push(log("info", `Job ${run.job.name} STDERR:\n${result.stderr.text.trimEnd()}`));
  return effects(reporting, ...output, { kind: "report", hook: "onFailure", run, result });
}

/** F-24, F-25; and for a pooled job on all nodes, unless this one protects the ladder it holds (F-26). */
function endHeldLadder(state: JobState, run: Start, reason: "succeeded" | "cancelled"): Turn {
  const { ladder } = state;
  if (ladder !== null && !endsLadder(ladder, run.ladderId)) return unchanged(state);
  const ended = endLadder(state, reason);
  const { job } = run;
  const hasRetries = job.launch.pool !== null && job.retry.maximumRetries !== 0;
  return hasRetries ? joined(ended, [{ kind: "end pool ladder", job }]) : ended;
}

/** A report of the completion under way has ended. */
export function reported(state: JobState, runId: RunId, now: EpochMs): Turn {
  const [first, ...rest] = state.completions;
  if (first === undefined || first.run.runId !== runId || first.stage === "queued") return unchanged(state);
  const done: JobState = { ...state, completions: rest };
  if (first.result.failReason === null || first.stage === "reporting permanent failure") return workOnCompletions(done);

  const held = heldBy(state, first.run);
  if (held !== null && held.poolEpoch !== null && first.stage === "reporting") {
    const asking: Completion = { ...first, stage: "asking the pool" };
    const asked = { kind: "ask ladder", run: first.run, epoch: held.poolEpoch } as const;
    return effects({ ...state, completions: [asking, ...rest] }, asked);
  }
  return retriedOrFailed(state, first, held, now);
}

/** The pool has told whether the ladder of a failed run goes on (F-31). */
export function ladderAnswered(state: JobState, runId: RunId, stands: boolean | "unknown", now: EpochMs): Turn {
  const [first] = state.completions;
  if (first === undefined || first.run.runId !== runId || first.stage !== "asking the pool") return unchanged(state);
  const held = heldBy(state, first.run);
  if (stands === "unknown") {
    const said = log("warning", `Job ${first.run.job.name}: deferring its retry guard check`);
    return joined(retriedOrFailed(state, first, held, now), [said]);
  }
  if (stands || held === null) return retriedOrFailed(state, first, held, now);
  const ended = endLadder(state, "superseded");
  return joined(retriedOrFailed(ended.state, first, null, now), ended.effects);
}

/** The ladder that the run was launched with, while that is the job's (J4). */
function heldBy({ ladder }: JobState, { ladderId }: Start): Ladder | null {
  return ladder !== null && ladder.id === ladderId ? ladder : null;
}

/** What follows a failure that has been told. */
function retriedOrFailed(state: JobState, first: Completion, held: Ladder | null, now: EpochMs): Turn {
  const rest = state.completions.slice(1);
  const done: JobState = { ...state, completions: rest };
  const follows = afterFailure(held, first.run.job.retry, now);
  if (follows.next === "retry") {
    const { count, id, wait } = follows.ladder;
    const said: JobEffect[] = [];
    if (held?.wait != null) said.push({ kind: "drop retry timer" });
    said.push(
      log(
        "info",
        `Cron job ${first.run.job.name} scheduled to be retried (#${count}) in ${wait.delaySeconds.toFixed(1)} seconds`,
      ),
      { kind: "arm retry", ladderId: id, attempt: count, wait, record: true },
    );
    return joined(workOnCompletions({ ...done, ladder: follows.ladder }), said);
  }
  const ended = follows.because === "exhausted" ? endLadder(state, "exhausted") : unchanged(state);
  const telling: Completion = { ...first, stage: "reporting permanent failure" };
  return effects(
    { ...ended.state, completions: [telling, ...rest] },
    ...ended.effects,
    { kind: "permanent failure", run: first.run },
    { kind: "report", hook: "onPermanentFailure", run: first.run, result: first.result },
  );
}

function ranRow(run: Start, result: RunResult): Omit<RanRow, "outcome" | "failReason"> {
  const { startedAt, finishedAt, endedAt, exitCode, resources, verification, limits } = result;
  return {
    kind: "ran",
    runId: run.runId,
    trigger: run.trigger,
    exitCode,
    startedAt,
    finishedAt,
    ranAt: endedAt,
    resources,
    verification,
    limits,
  };
}

function hasOutput(stream: RunResult["stdout"]): boolean {
  return stream !== null && (stream.text !== "" || stream.discardedLines > 0);
}

/**
 * What each event means for a job: concurrency, retries, pauses, reports (running 1.1, 6, 8, 9, 16). Pure: state and event in, state
 * and effects out. Numbered rules, cited where they are kept:
 *   J1. A refused start leaves its reason, and nothing else unless the rule says so.
 *   J2. A Forbid-dropped fire changes neither ladder nor runs (F-20).
 *   J3. Only a scheduled or boot fire makes a ladder, and it does so after the Forbid check, before Replace stops anyone (F-18).
 *   J4. A run holds a ladder by id; an id that is no longer the job's means its ladder has ended (F-19).
 *   J5. Reports of one job go in the order its runs ended, and a retry is armed only after the onFailure report (running 8).
 *   J6. While stopping, nothing starts; failures end silently, successes still end their ladder and are reported (F-53).
 */
import type { JobConfig } from "../config/model.ts";
import type { RanRow } from "../contract/history.ts";
import type { NotRunReason } from "../contract/reason.ts";
import type { RunId, RunResult, Trigger } from "../contract/run.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { Completion, JobEffect, JobEvent, JobState, Run, Start } from "./job-state.ts";
import { afterFailure, deferRetry, endsLadder, freshLadder } from "./ladder.rules.ts";
import { pauseInForce } from "./pause.rules.ts";

export interface Turn {
  readonly state: JobState;
  readonly effects: readonly JobEffect[];
}

/** One event of one job at wall time `now`. */
export function step(state: JobState, event: JobEvent, now: EpochMs): Turn {
  switch (event.kind) {
    case "due":
      return due(state, event, now);
    case "boot":
      return boot(state, event.runId, now);
    case "retry due":
      return retryDue(state, event, now);
    case "start":
      return manualStart(state, event);
    case "cancel":
      return cancel(state, event.request);
    case "spawned":
      return unchanged(markRunning(state, event));
    case "finished":
      return finished(state, event.runId, event.result);
    case "reported":
      return reported(state, event.runId, now);
    case "paused":
      return unchanged({ ...state, pause: event.pause });
    case "resumed":
      return unchanged({ ...state, pause: null });
    case "minute":
      return minute(state, event.runId, now);
    case "configured":
      return configured(state, event.job);
    case "shutdown":
      return shutdown(state);
  }
}

function due(state: JobState, { slot, runId }: { slot: EpochMs; runId: RunId }, now: EpochMs): Turn {
  const trigger: Trigger = { kind: "schedule", slot };
  const { job } = state;
  if (job === null) return refuse(state, trigger, slot, { kind: "removed" });
  if (state.stopping) return refuse(state, trigger, slot, { kind: "shutting-down" });
  const pause = pauseInForce(state.pause, now);
  if (pause !== null) {
    const until = new Date(pause.until).toISOString();
    return effects(
      state,
      log("info", `Job ${job.name} skipped: paused until ${until} (${pause.note})`),
      { kind: "record skip", row: { kind: "skipped", slot, finishedAt: now, skipReason: "paused" } },
      { kind: "refuse", trigger, slot, reason: { kind: "paused", until: pause.until, note: pause.note } },
    );
  }
  if (!pastAllows(state, job)) return refusedByPast(state, job, trigger, slot);
  return admit(state, { runId, trigger, job });
}

/** `onlyIfLastSucceeded`: a run that still goes on has not succeeded, except under Replace, which ends it (DEP-1 to DEP-5). */
function pastAllows(state: JobState, job: JobConfig): boolean {
  if (!job.onlyIfLastSucceeded) return true;
  if (state.runs.size > 0 && job.concurrencyPolicy !== "Replace") return false;
  return state.lastVerdict?.outcome !== "failure";
}

function refusedByPast(state: JobState, job: JobConfig, trigger: Trigger, slot: EpochMs | null): Turn {
  return effects(state, log("info", `Job ${job.name} skipped: onlyIfLastSucceeded and its last run did not succeed`), {
    kind: "refuse",
    trigger,
    slot,
    reason: { kind: "last-run-failed" },
  });
}

function boot(state: JobState, runId: RunId, now: EpochMs): Turn {
  const { job } = state;
  const trigger: Trigger = { kind: "boot" };
  if (job === null || !job.enabled) return unchanged({ ...state, bootPending: false });
  if (state.stopping) return refuse(state, trigger, null, { kind: "shutting-down" });
  const pause = pauseInForce(state.pause, now);
  if (pause !== null) {
    return effects(
      { ...state, bootPending: true },
      log(
        "info",
        `Job ${job.name}: its boot run waits, paused until ${new Date(pause.until).toISOString()} (${pause.note})`,
      ),
    );
  }
  const ready: JobState = { ...state, bootPending: false };
  if (!pastAllows(state, job)) return refusedByPast(ready, job, trigger, null);
  return admit(ready, { runId, trigger, job });
}

function retryDue(state: JobState, { ladderId, runId }: { ladderId: number; runId: RunId }, now: EpochMs): Turn {
  const { job, ladder } = state;
  if (ladder?.wait == null || ladder.id !== ladderId || state.stopping) return unchanged(state); // superseded meanwhile
  const trigger: Trigger = { kind: "retry", attempt: ladder.count };
  if (job === null) {
    // F-28
    return effects(
      { ...state, ladder: null },
      log("warning", `Cron job ${state.name} was scheduled for retry, but disappeared from the configuration`),
      { kind: "settle retry", attempt: ladder.count, reason: "job-removed" },
      { kind: "refuse", trigger, slot: null, reason: { kind: "removed" } },
    );
  }
  if (!job.enabled) {
    return effects(
      { ...state, ladder: null },
      log("warning", `Cron job ${job.name} was scheduled for retry, but has been disabled; the retry is dropped`),
      { kind: "settle retry", attempt: ladder.count, reason: "disabled" },
      { kind: "refuse", trigger, slot: null, reason: { kind: "disabled" } },
    );
  }
  const pause = pauseInForce(state.pause, now);
  if (pause !== null) {
    // F-29: deferred, never consumed
    const deferred = deferRetry({ ...ladder, wait: ladder.wait }, now);
    return effects(
      { ...state, ladder: deferred },
      log(
        ladder.wait.deferred ? "debug" : "info",
        `Job ${job.name} retry #${ladder.count} waits: the job is paused (${pause.note})`,
      ),
      { kind: "arm retry", ladderId, attempt: ladder.count, dueAt: deferred.wait.dueAt },
    );
  }
  // A retry that Forbid drops below is consumed all the same (running 6).
  const turn = admit({ ...state, ladder: { ...ladder, wait: null } }, { runId, trigger, job });
  return {
    state: turn.state,
    effects: [{ kind: "settle retry", attempt: ladder.count, reason: "launched" }, ...turn.effects],
  };
}

function manualStart(
  state: JobState,
  { request, by, runId }: { request: number; by: string | null; runId: RunId },
): Turn {
  const { job } = state;
  const trigger: Trigger = { kind: "manual", by };
  const refused = (reason: NotRunReason): Turn =>
    effects(
      state,
      { kind: "refuse", trigger, slot: null, reason },
      {
        kind: "answer start",
        request,
        answer: { kind: "refused", reason },
      },
    );
  if (job === null) return refused({ kind: "removed" });
  if (!job.enabled) return refused({ kind: "disabled" });
  if (state.stopping) return refused({ kind: "shutting-down" });
  const turn = admit({ ...state, bootPending: false }, { runId, trigger, job });
  const refusal = turn.effects.find((effect) => effect.kind === "refuse" && effect.trigger === trigger);
  return effects(turn.state, ...turn.effects, {
    kind: "answer start",
    request,
    answer: refusal?.kind === "refuse" ? { kind: "refused", reason: refusal.reason } : { kind: "started", runId },
  });
}

/** The concurrency gate, the ladder, and the launch or the wait for those to be replaced (running 1.1 steps 5, 6). */
function admit(state: JobState, wanted: Omit<Start, "ladderId">): Turn {
  const { job, trigger } = wanted;
  const live = [...state.runs.values()];
  const said: JobEffect[] = [];
  if (live.length > 0) {
    said.push(log("warning", `Job ${job.name}: still running and concurrencyPolicy is ${job.concurrencyPolicy}`));
    if (job.concurrencyPolicy === "Forbid") {
      const slot = trigger.kind === "schedule" ? trigger.slot : null;
      said.push({ kind: "refuse", trigger, slot, reason: { kind: "forbidden", running: live.length } }); // J1, J2
      return effects(state, ...said);
    }
  }
  const laddered = startsLadder(trigger) ? resetLadder(state, job) : effects(state); // J3
  said.push(...laddered.effects);
  const start: Start = { ...wanted, ladderId: laddered.state.ladder?.id ?? null };
  if (live.length === 0 || job.concurrencyPolicy === "Allow") return joined(launch(laddered.state, start), said);
  return joined(replace(laddered.state, start), said);
}

/** Tells every live run to make way. A start that was waiting already is superseded: it would be replaced at once. */
function replace(state: JobState, start: Start): Turn {
  const said: JobEffect[] = [];
  if (state.waiting !== null) {
    const { trigger } = state.waiting;
    const slot = trigger.kind === "schedule" ? trigger.slot : null;
    said.push({ kind: "refuse", trigger, slot, reason: { kind: "superseded" } });
  }
  const runs = new Map<RunId, Run>();
  for (const run of state.runs.values()) {
    runs.set(run.runId, run.phase === "stopping" ? run : { ...identityOf(run), phase: "stopping", cause: "replaced" });
    if (run.phase !== "stopping") said.push({ kind: "stop", runId: run.runId, cause: "replaced" });
  }
  return effects({ ...state, runs, waiting: start }, ...said);
}

function launch(state: JobState, start: Start): Turn {
  const runs = new Map(state.runs).set(start.runId, { ...start, phase: "launching" });
  const attempt = state.ladder !== null && state.ladder.id === start.ladderId ? state.ladder.count : 0;
  return effects({ ...state, runs, waiting: null }, log("info", `Starting job ${start.job.name}`), {
    kind: "launch",
    start,
    attempt,
  });
}

function startsLadder(trigger: Trigger): boolean {
  return trigger.kind === "schedule" || trigger.kind === "boot";
}

/** Ends the ladder in progress and makes the one of this fire (F-18). */
function resetLadder(state: JobState, job: JobConfig): Turn {
  const ended = endLadder(state, "superseded");
  const ladder = freshLadder(state.nextLadderId, job.retry);
  return effects({ ...ended.state, ladder, nextLadderId: state.nextLadderId + 1 }, ...ended.effects);
}

function endLadder(state: JobState, reason: Extract<JobEffect, { kind: "settle retry" }>["reason"]): Turn {
  const { ladder } = state;
  if (ladder === null) return unchanged(state);
  const said: JobEffect[] = [];
  if (ladder.wait !== null) said.push({ kind: "drop retry timer" });
  if (ladder.count > 0) said.push({ kind: "settle retry", attempt: ladder.count, reason });
  return effects({ ...state, ladder: null }, ...said);
}

function cancel(state: JobState, request: number): Turn {
  if (state.runs.size === 0) {
    return effects(state, { kind: "answer cancel", request, answer: { kind: "not running" } });
  }
  const runs = new Map<RunId, Run>();
  const said: JobEffect[] = [];
  for (const run of state.runs.values()) {
    runs.set(run.runId, run.phase === "stopping" ? run : { ...identityOf(run), phase: "stopping", cause: "cancelled" });
    if (run.phase !== "stopping") said.push({ kind: "stop", runId: run.runId, cause: "cancelled" });
  }
  const waitsFor = { request, instances: runs.size, left: new Set(runs.keys()) };
  return effects({ ...state, runs, cancels: [...state.cancels, waitsFor] }, ...said);
}

function markRunning(state: JobState, event: Extract<JobEvent, { kind: "spawned" }>): JobState {
  const run = state.runs.get(event.runId);
  if (run === undefined || run.phase !== "launching") return state;
  const running: Run = { ...run, phase: "running", startedAt: event.startedAt, pid: event.pid };
  return { ...state, runs: new Map(state.runs).set(run.runId, running) };
}

/** The bookkeeping of one run that is gone (running 8), then the start that waited for it, then the requests that did. */
function finished(state: JobState, runId: RunId, result: RunResult): Turn {
  const run = state.runs.get(runId);
  if (run === undefined) return unchanged(state);
  const runs = new Map(state.runs);
  runs.delete(runId);
  let turn = judged({ ...state, runs }, identityOf(run), result);
  turn = joined(answerCancels(turn.state, runId), turn.effects);
  const { waiting } = turn.state;
  if (waiting === null || runs.size > 0 || state.stopping) return turn;
  return joined(launch(turn.state, waiting), turn.effects);
}

function judged(state: JobState, run: Start, result: RunResult): Turn {
  const { name } = run.job;
  switch (result.stopped) {
    case "replaced":
      return effects(state, log("info", `Job ${name} was replaced by a newer instance`), {
        kind: "record",
        run,
        result,
        row: null,
      });
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
  const outcome = result.failReason === null ? "success" : "failure";
  const row: RanRow = { ...ranRow(run, result), outcome, failReason: result.failReason };
  const reason = result.failReason === null ? "None" : `'${result.failReason}'`;
  const said: JobEffect[] = [
    log(
      "info",
      `Job ${run.job.name} exit code ${result.exitCode}; has stdout: ${hasOutput(result.stdout)}, has stderr: ${hasOutput(result.stderr)}; fail_reason: ${reason}`,
    ),
    { kind: "record", run, result, row },
  ];
  const known = state.lastVerdict;
  const lastVerdict =
    known === null || known.endedAt <= result.endedAt ? ({ outcome, endedAt: result.endedAt } as const) : known;
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

function endHeldLadder(state: JobState, run: Start, reason: "succeeded" | "cancelled"): Turn {
  if (state.ladder === null || !endsLadder(state.ladder, run.ladderId)) return unchanged(state);
  return endLadder(state, reason);
}

/** A report of the completion under way has ended. */
function reported(state: JobState, runId: RunId, now: EpochMs): Turn {
  const [first, ...rest] = state.completions;
  if (first === undefined || first.run.runId !== runId || first.stage === "queued") return unchanged(state);
  const done: JobState = { ...state, completions: rest };
  if (first.result.failReason === null || first.stage === "reporting permanent failure") return workOnCompletions(done);

  const held = state.ladder !== null && state.ladder.id === first.run.ladderId ? state.ladder : null; // J4
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
      { kind: "arm retry", ladderId: id, attempt: count, dueAt: wait.dueAt },
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

function answerCancels(state: JobState, gone: RunId): Turn {
  if (state.cancels.length === 0) return unchanged(state);
  const said: JobEffect[] = [];
  const cancels = state.cancels.flatMap((cancel) => {
    const left = new Set(cancel.left);
    left.delete(gone);
    if (left.size > 0) return [{ ...cancel, left }];
    said.push({
      kind: "answer cancel",
      request: cancel.request,
      answer: { kind: "cancelled", instances: cancel.instances },
    });
    return [];
  });
  return effects({ ...state, cancels }, ...said);
}

function minute(state: JobState, runId: RunId, now: EpochMs): Turn {
  if (pauseInForce(state.pause, now) !== null) return unchanged(state);
  const said = state.pause === null ? [] : [log("info", `Job ${state.name}: its pause has ended`)];
  const awake: JobState = { ...state, pause: null };
  return joined(state.bootPending ? boot(awake, runId, now) : unchanged(awake), said);
}

function configured(state: JobState, job: JobState["job"]): Turn {
  if (job === null) return unchanged({ ...state, job, pause: null, bootPending: false });
  return unchanged({ ...state, job });
}

/** F-32: timers stop without settling; the start that waited is refused; completions under way go on. */
function shutdown(state: JobState): Turn {
  const said: JobEffect[] = [];
  if (state.ladder?.wait != null) said.push({ kind: "drop retry timer" });
  if (state.waiting !== null) {
    const { trigger } = state.waiting;
    const slot = trigger.kind === "schedule" ? trigger.slot : null;
    said.push({ kind: "refuse", trigger, slot, reason: { kind: "shutting-down" } });
  }
  return effects({ ...state, stopping: true, waiting: null }, ...said);
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

function identityOf({ runId, trigger, job, ladderId }: Start): Start {
  return { runId, trigger, job, ladderId };
}

function hasOutput(stream: RunResult["stdout"]): boolean {
  return stream !== null && (stream.text !== "" || stream.discardedLines > 0);
}

function log(level: "debug" | "info" | "warning", message: string): JobEffect {
  return { kind: "log", level, message };
}

function refuse(state: JobState, trigger: Trigger, slot: EpochMs | null, reason: NotRunReason): Turn {
  return effects(state, { kind: "refuse", trigger, slot, reason });
}

function effects(state: JobState, ...list: readonly JobEffect[]): Turn {
  return { state, effects: list };
}

function unchanged(state: JobState): Turn {
  return { state, effects: [] };
}

/** `turn` with `before` done first. */
function joined(turn: Turn, before: readonly JobEffect[]): Turn {
  return { state: turn.state, effects: [...before, ...turn.effects] };
}

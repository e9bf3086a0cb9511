/**
 * From a wanted run to a launched one: concurrency on this node, the retry sequence, the job's slot in the cluster (running 1.1 steps
 * 5 to 8, 6, 7). The numbered rules are in job.rules.ts.
 */
import { slotHeldMessage } from "../cluster/slots/messages.ts";
import type { JobConfig } from "../config/model.ts";
import type { RetrySettled } from "../contract/events.ts";
import type { RunId, StopCause } from "../contract/run.ts";
import type { Around, JobEffect, JobState, Run, SlotVerdict, Start, Wanted } from "./job-state.ts";
import { freshLadder } from "./ladder.rules.ts";
import { effects, joined, log, refusal, refused, type Turn, unchanged } from "./turn.ts";

/** The concurrency gate, the ladder, and the launch or the wait for those to be replaced. */
export function admit(state: JobState, wanted: Wanted, around: Pick<Around, "survivor">): Turn {
  const { job, trigger } = wanted;
  const barred = whyBarred(state, wanted, around);
  if (barred.refusal !== null) return joined(barred.refusal, barred.said); // J1, J2
  const startsLadder = trigger.kind === "schedule" || trigger.kind === "boot";
  const laddered = startsLadder ? resetLadder(state, job) : unchanged(state); // J3
  // A run that is caught up has no retries of its own and takes none (CAT-10).
  const ladderId = trigger.kind === "catch-up" ? null : (laddered.state.ladder?.id ?? null);
  const turn = beginOrReplace(laddered.state, { ...wanted, ladderId });
  return joined(turn, [...barred.said, ...laddered.effects]);
}

/** The same for a start whose ladder was made before, as it was queued. */
export function admitWith(state: JobState, start: Start, around: Pick<Around, "survivor">): Turn {
  const barred = whyBarred(state, start, around);
  return joined(barred.refusal ?? beginOrReplace(state, start), barred.said);
}

/** What runs already, and whether Forbid lets nothing start beside it. */
function whyBarred(
  state: JobState,
  wanted: Wanted,
  { survivor }: Pick<Around, "survivor">,
): { readonly said: readonly JobEffect[]; readonly refusal: Turn | null } {
  const { name, concurrencyPolicy: policy } = wanted.job;
  const said: JobEffect[] = [];
  if (state.runs.size > 0) said.push(log("warning", `Job ${name}: still running and concurrencyPolicy is ${policy}`));
  if (survivor !== null) {
    const goesOn = `the previous daemon's run (pid ${survivor}) still goes on`;
    said.push(log("warning", `Job ${name}: ${goesOn} and concurrencyPolicy is ${policy}`));
  }
  const running = state.runs.size + (survivor === null ? 0 : 1);
  const isBarred = running > 0 && policy === "Forbid";
  return { said, refusal: isBarred ? refused(state, wanted, { kind: "forbidden", running }) : null };
}

function beginOrReplace(state: JobState, start: Start): Turn {
  if (state.runs.size === 0 || start.job.concurrencyPolicy === "Allow") return begin(state, start);
  return replace(state, start);
}

/** Ends the ladder in progress and makes the one of this fire (F-18). */
export function resetLadder(state: JobState, job: JobConfig): Turn {
  const ended = endLadder(state, "superseded");
  const ladder = freshLadder(state.nextLadderId, job.retry);
  return effects({ ...ended.state, ladder, nextLadderId: state.nextLadderId + 1 }, ...ended.effects);
}

export function endLadder(state: JobState, reason: RetrySettled): Turn {
  const { ladder } = state;
  if (ladder === null) return unchanged(state);
  const said: JobEffect[] = [];
  if (ladder.wait !== null) said.push({ kind: "drop retry timer" });
  if (ladder.count > 0) said.push({ kind: "settle retry", attempt: ladder.count, reason });
  return effects({ ...state, ladder: null }, ...said);
}

/** Tells every live run to make way for `start`, which waits. */
function replace(state: JobState, start: Start): Turn {
  const told = stopAll(state, "replaced");
  return joined(wait(told.state, start), told.effects);
}

/**
 * Puts a start aside; one that waited already is superseded: it would be replaced at once. A person who asked is told that it will start;
 * catch-up hears when it does, since a slot whose run never came about is still owed (CAT-14).
 */
function wait(state: JobState, start: Start): Turn {
  const said: JobEffect[] = [];
  if (state.waiting !== null) said.push(...refusal(state.waiting, { kind: "superseded" }));
  if (start.trigger.kind === "catch-up") return effects({ ...state, waiting: start }, ...said);
  said.push(...started(start));
  return effects({ ...state, waiting: { ...start, request: null } }, ...said);
}

/** Launches, or asks for the job's slot first. */
export function begin(state: JobState, start: Start): Turn {
  // One that waits for another node to make way is overtaken, and its slot is accounted for (J1).
  const { waiting } = state;
  if (waiting !== null && waiting.runId !== start.runId)
    return joined(begin({ ...state, waiting: null }, start), refusal(waiting, { kind: "superseded" }));
  if (start.job.concurrencyScope === "node") return launch(state, start);
  const runs = new Map(state.runs).set(start.runId, { ...start, phase: "claiming", cause: null } as const);
  return effects({ ...state, runs, waiting: null }, { kind: "claim slot", start });
}

function launch(state: JobState, start: Start): Turn {
  const runs = new Map(state.runs).set(start.runId, { ...identityOf(start), phase: "launching" } as const);
  const attempt = state.ladder !== null && state.ladder.id === start.ladderId ? state.ladder.count : 0;
  return effects(
    { ...state, runs, waiting: null },
    log("info", `Starting job ${start.job.name}`),
    { kind: "launch", start, attempt },
    ...started(start),
  );
}

function started({ request, runId }: Start): JobEffect[] {
  return request === null ? [] : [{ kind: "answer start", request, answer: { kind: "started", runId } }];
}

/** The cluster has answered for the slot of a start (running 7). */
export function slotAnswered(state: JobState, runId: RunId, slot: SlotVerdict): Turn {
  const run = state.runs.get(runId);
  if (run === undefined || run.phase !== "claiming") {
    return effects(state, ...released(runId, slot));
  }
  const start = identityOf(run);
  const runs = new Map(state.runs);
  runs.delete(runId);
  const without: JobState = { ...state, runs };
  if (run.cause !== null || state.stopping) {
    const reason = state.stopping ? ({ kind: "shutting-down" } as const) : ({ kind: "superseded" } as const);
    return gone(without, runId, [...released(runId, slot), ...refusal(start, reason)]);
  }
  switch (slot.kind) {
    case "go":
      return launch(without, start);
    case "refused":
      return gone(without, runId, refusal(start, { kind: "store-unavailable", what: slot.because }));
    case "taken": {
      const { holder } = slot;
      if (start.job.concurrencyPolicy === "Replace") {
        const waits = wait(without, start);
        const asked: JobEffect = { kind: "pursue slot", start: { ...start, request: null }, holder };
        return gone(waits.state, runId, [...waits.effects, asked]);
      }
      const said = log("warning", slotHeldMessage(start.job.name, holder));
      return gone(without, runId, [said, ...refusal(start, { kind: "slot-held", holder })]);
    }
  }
}

function released(runId: RunId, slot: SlotVerdict): JobEffect[] {
  return slot.kind === "go" && slot.leased ? [{ kind: "release slot", runId }] : [];
}

/** The other node has made way, or has not: the start that waited for it asks for the slot once more, or is given up. */
export function pursued(state: JobState, runId: RunId, outcome: "free" | "gave up", holder: string): Turn {
  const { waiting } = state;
  if (waiting === null || waiting.runId !== runId || state.stopping) return unchanged(state);
  if (outcome === "free") return state.runs.size > 0 ? unchanged(state) : begin(state, waiting);
  return refused({ ...state, waiting: null }, waiting, { kind: "slot-held", holder });
}

/** What a run that left the set, launched or not, leads to: requests that waited for it, and the start that did. */
export function gone(state: JobState, runId: RunId, before: readonly JobEffect[]): Turn {
  const answered = answerCancels(state, runId);
  const turn = joined(answered, before);
  const { waiting, runs, stopping } = turn.state;
  // One that another node is pursued for goes on when that has been answered.
  const pursues = before.some((effect) => effect.kind === "pursue slot");
  if (waiting === null || runs.size > 0 || stopping || pursues) return turn;
  return joined(begin(turn.state, waiting), turn.effects);
}

function answerCancels(state: JobState, runId: RunId): Turn {
  if (state.cancels.length === 0) return unchanged(state);
  const said: JobEffect[] = [];
  const cancels = state.cancels.flatMap((cancel) => {
    const left = new Set(cancel.left);
    left.delete(runId);
    if (left.size > 0) return [{ ...cancel, left }];
    const { request, instances } = cancel;
    said.push({ kind: "answer cancel", request, answer: { kind: "cancelled", instances } });
    return [];
  });
  return effects({ ...state, cancels }, ...said);
}

export function cancel(state: JobState, request: number): Turn {
  if (state.runs.size === 0) {
    return effects(state, { kind: "answer cancel", request, answer: { kind: "not running" } });
  }
  const told = stopAll(state, "cancelled");
  const waitsFor = { request, instances: state.runs.size, left: new Set(state.runs.keys()) };
  return joined(effects({ ...told.state, cancels: [...state.cancels, waitsFor] }), told.effects);
}

/** Stops what has a process, and marks what has none yet; the first cause stays. */
export function stopAll(state: JobState, cause: StopCause): Turn {
  const runs = new Map<RunId, Run>();
  const said: JobEffect[] = [];
  for (const run of state.runs.values()) {
    if (run.phase === "stopping") runs.set(run.runId, run);
    else if (run.phase === "claiming") runs.set(run.runId, { ...run, cause: run.cause ?? cause });
    else {
      runs.set(run.runId, { ...identityOf(run), phase: "stopping", cause });
      said.push({ kind: "stop", runId: run.runId, cause });
    }
  }
  return effects({ ...state, runs }, ...said);
}

export function stopOne(state: JobState, runId: RunId, cause: StopCause): Turn {
  const run = state.runs.get(runId);
  if (run === undefined) return unchanged(state);
  const others = new Map(state.runs);
  others.delete(runId);
  const told = stopAll({ ...state, runs: new Map([[runId, run]]) }, cause);
  return { state: { ...state, runs: new Map([...others, ...told.state.runs]) }, effects: told.effects };
}

export function identityOf({ runId, trigger, job, request, ladderId }: Start): Start {
  return { runId, trigger, job, request, ladderId };
}

/**
 * What each event means for a job: its gates, concurrency, retries, pauses, reports (running 1.1, 6, 7, 8, 9, 16). Pure: state and event
 * in, state and effects out. Numbered rules, cited where they are kept:
 *   J1. A refused start leaves its reason, and nothing else unless the rule says so.
 *   J2. A Forbid-dropped fire changes neither ladder nor runs (F-20).
 *   J3. Only a scheduled or boot fire makes a ladder, and it does so after the Forbid check, before Replace stops anyone (F-18).
 *   J4. A run holds a ladder by id; an id that is no longer the job's means its ladder has ended (F-19).
 *   J5. Reports of one job go in the order its runs ended, and a retry is armed only after the onFailure report (running 8).
 *   J6. While stopping, nothing starts; failures end silently, successes still end their ladder and are reported (F-53).
 *   J7. A start that waits for an answer is judged anew when it comes: the job may be gone, paused or another's by then.
 *   J8. A retry that was consumed and cannot go is armed again: nothing else would ever run it.
 */
import type { RunId } from "../contract/run.ts";
import type { Past } from "../journal/ledger/past.rules.ts";
import { abandonedRetry } from "../journal/retries/abandoned.ts";
import type { ResumedRetry } from "../journal/retries/retry.rules.ts";
import type { EpochMs } from "../platform/clock.ts";
import { admit, cancel, pursued, slotAnswered, stopAll, stopOne } from "./admission.rules.ts";
import { finished, ladderAnswered, reported } from "./completion.rules.ts";
import type { Around, Asking, BootAnswer, JobEvent, JobState, RetryAnswer, Wanted } from "./job-state.ts";
import { deferRetry, type Ladder, type RetryWait, resumedLadder, standsAt } from "./ladder.rules.ts";
import { pauseInForce } from "./pause.rules.ts";
import { enterPool, enterPoolForRetry, poolAdmitted, poolAnswered, poolLeft } from "./pooled-start.rules.ts";
import { effects, joined, log, refusal, refused, type Turn, unchanged } from "./turn.ts";

/** One event of one job. */
export function step(state: JobState, event: JobEvent, around: Around): Turn {
  const { now } = around;
  switch (event.kind) {
    case "due":
      return due(state, event, around);
    case "boot":
      return boot(state, event.runId, around);
    case "retry due":
      return retryDue(state, event, around);
    case "start":
      return manualStart(state, event, around);
    case "catch up":
      return caughtUp(state, event, around);
    case "past answered":
      return pastAnswered(state, event.runId, event.past, around);
    case "boot answered":
      return bootAnswered(state, event.runId, event.boot, around);
    case "retry answered":
      return retryAnswered(state, event.runId, event.retry, around);
    case "pool answered":
      return poolAnswered(state, event.runId, event.answer, around);
    case "pool admitted":
      return poolAdmitted(state, event, around);
    case "pool left":
      return poolLeft(state, event.runId, event.pool, event.why);
    case "pool lost":
      return stopOne(state, event.runId, "cancelled");
    case "ladder answered":
      return ladderAnswered(state, event.runId, event.stands, now);
    case "slot answered":
      return slotAnswered(state, event.runId, event.slot);
    case "pursued":
      return pursued(state, event.runId, event.outcome, event.holder);
    case "yield":
      return stopAll(state, "replaced");
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
    case "remembered": {
      const { verdict } = event;
      const known = state.lastVerdict;
      return unchanged(
        known !== null && known.finishedAt >= verdict.finishedAt ? state : { ...state, lastVerdict: verdict },
      );
    }
    case "retry resumed":
      return retryResumed(state, event.retry);
    case "minute":
      return minute(state, event.runId, around);
    case "configured":
      return configured(state, event.job);
    case "shutdown":
      return shutdown(state);
  }
}

function due(state: JobState, { slot, runId }: { slot: EpochMs; runId: RunId }, around: Around): Turn {
  const trigger = { kind: "schedule", slot } as const;
  const { job } = state;
  if (job === null) return refused(state, { trigger, request: null }, { kind: "removed" });
  return throughGates(state, { runId, trigger, job, request: null }, around, []);
}

function boot(state: JobState, runId: RunId, around: Around): Turn {
  const { job } = state;
  if (job === null || !job.enabled) return unchanged({ ...state, bootPending: false });
  return throughGates(state, { runId, trigger: { kind: "boot" }, job, request: null }, around, []);
}

/** A scheduled or boot fire up to the next gate that takes time; `passed` are those it has been through (J7). */
function throughGates(state: JobState, wanted: Wanted, around: Around, passed: readonly Asking["gate"][]): Turn {
  const { job, trigger } = wanted;
  if (state.stopping) return refused(state, wanted, { kind: "shutting-down" });
  if (state.job === null) return refused(state, wanted, { kind: "removed" });
  const { owner } = around;
  if (owner !== null && owner.kind !== "here") {
    return refused(state, wanted, { kind: "not-owner", owner: owner.kind === "elsewhere" ? owner.owner : null });
  }
  const pause = pauseInForce(state.pause, around.now);
  if (pause !== null) {
    const until = new Date(pause.until).toISOString();
    if (trigger.kind === "boot") {
      const said = log("info", `Job ${job.name}: its boot run waits, paused until ${until} (${pause.note})`);
      return effects({ ...state, bootPending: true }, said);
    }
    const slot = trigger.kind === "schedule" ? trigger.slot : null;
    return effects(
      state,
      log("info", `Job ${job.name} skipped: paused until ${until} (${pause.note})`),
      { kind: "record row", row: { kind: "skipped", slot, finishedAt: around.now, skipReason: "paused" } },
      ...refusal(wanted, { kind: "paused", until: pause.until, note: pause.note }),
    );
  }
  const ready: JobState = trigger.kind === "boot" ? { ...state, bootPending: false } : state;
  if (job.onlyIfLastSucceeded && !passed.includes("past")) {
    return effects(asks(ready, { gate: "past", wanted }), { kind: "ask past", wanted });
  }
  if (trigger.kind === "boot" && !passed.includes("boot")) {
    return effects(asks(ready, { gate: "boot", wanted }), { kind: "ask boot", wanted });
  }
  return pooledOrAdmitted(ready, wanted, around);
}

/** A pooled job's start waits for its turn first; concurrency is judged when that has come (running 19.4.3). */
function pooledOrAdmitted(state: JobState, wanted: Wanted, around: Around): Turn {
  return wanted.job.launch.pool === null ? admit(state, wanted, around) : enterPool(state, wanted);
}

/** `onlyIfLastSucceeded` (DEP-1 to DEP-6). */
function pastAnswered(state: JobState, runId: RunId, past: Past, around: Around): Turn {
  const { asking, rest } = answeredAt(state, runId, "past");
  if (asking === null) return unchanged(state);
  const { wanted } = asking;
  if (past.kind === "allows") return throughGates(rest, wanted, around, ["past"]);
  const { name } = wanted.job;
  if (past.because === "store unavailable") {
    const why = "onlyIfLastSucceeded and the run ledger cannot be read (onStoreUnavailable: fail-closed)";
    const reason = { kind: "store-unavailable", what: "the run ledger" } as const;
    return joined(refused(rest, wanted, reason), [log("info", `Job ${name} skipped: ${why}`)]);
  }
  const said = log("info", `Job ${name} skipped: onlyIfLastSucceeded and its last run did not succeed`);
  return joined(refused(rest, wanted, { kind: "last-run-failed" }), [said]);
}

/** The boot marker has been looked at, and written if the run is to go. What was not to run again was said by who looked. */
function bootAnswered(state: JobState, runId: RunId, answer: BootAnswer, around: Around): Turn {
  const { asking, rest } = answeredAt(state, runId, "boot");
  if (asking === null) return unchanged(state);
  switch (answer) {
    case "run":
      return throughGates(rest, asking.wanted, around, ["past", "boot"]);
    case "store unavailable":
      return refused(rest, asking.wanted, { kind: "store-unavailable", what: "the boot marker" });
    case "already ran":
    case "still runs":
      return unchanged(rest);
  }
}

function retryDue(state: JobState, { ladderId, runId }: { ladderId: number; runId: RunId }, around: Around): Turn {
  const { job, ladder } = state;
  if (ladder?.wait == null || ladder.id !== ladderId || state.stopping) return unchanged(state); // superseded meanwhile
  const trigger = { kind: "retry", attempt: ladder.count } as const;
  const dropped = (reason: "job-removed" | "disabled", why: string): Turn =>
    effects(
      { ...state, ladder: null },
      log("warning", `Cron job ${state.name} was scheduled for retry, but ${why}`),
      { kind: "settle retry", attempt: ladder.count, reason },
      ...refusal({ trigger, request: null }, { kind: reason === "disabled" ? "disabled" : "removed" }),
    );
  if (job === null) return dropped("job-removed", "disappeared from the configuration"); // F-28
  if (!job.enabled) return dropped("disabled", "has been disabled; the retry is dropped");
  const waiting = { ...ladder, wait: ladder.wait };
  if (around.owner?.kind === "elsewhere") return ownerMoved(state, waiting, around);
  if (around.owner?.kind === "unclear") return deferred(state, waiting, "no leader is elected", around.now);
  const pause = pauseInForce(state.pause, around.now);
  if (pause !== null) return deferred(state, waiting, `the job is paused (${pause.note})`, around.now); // F-29
  const wanted: Wanted = { runId, trigger, job, request: null };
  if (job.launch.pool !== null) return enterPoolForRetry(state, wanted, waiting);
  const asking: Asking = { gate: "retry", wanted, ladderId, wait: ladder.wait };
  return effects(asks({ ...state, ladder: { ...ladder, wait: null } }, asking), {
    kind: "ask retry",
    wanted,
    attempt: ladder.count,
  });
}

type WaitingLadder = Ladder & { readonly wait: RetryWait };

/** Another node goes on with the retry, or nobody does (RSM-2, F-43). */
function ownerMoved(state: JobState, { count, wait }: WaitingLadder, { now, retryMoves }: Around): Turn {
  const ended: JobState = { ...state, ladder: null };
  if (retryMoves) {
    return effects(
      ended,
      log(
        "warning",
        `Job ${state.name} retry #${count} handed off: the cluster moved ownership of it to another node; the new owner resumes the ladder from its durable record (cross-node retry resume)`,
      ),
      { kind: "hand off retry", attempt: count, armedAt: wait.armedAt },
    );
  }
  return effects(
    ended,
    log("warning", `Job ${state.name} retry #${count} abandoned: the cluster moved ownership of it to another node`),
    { kind: "settle retry", attempt: count, reason: "owner-moved" },
    { kind: "record row", row: abandonedRetry(count, now) },
  );
}

/** A due retry that cannot go now is looked at again later; it is never consumed. */
function deferred(state: JobState, ladder: WaitingLadder, because: string, now: EpochMs): Turn {
  const later = deferRetry(ladder, now);
  return effects(
    { ...state, ladder: later },
    log(ladder.wait.deferred ? "debug" : "info", `Job ${state.name} retry #${ladder.count} waits: ${because}`),
    { kind: "arm retry", ladderId: ladder.id, attempt: ladder.count, wait: later.wait, record: false },
  );
}

/** The retry is consumed in the store, or has to wait, or is another node's (F-36, RSM-5). */
function retryAnswered(state: JobState, runId: RunId, answer: RetryAnswer, around: Around): Turn {
  const { asking, rest } = answeredAt(state, runId, "retry");
  if (asking === null) return unchanged(state);
  const { wanted, ladderId, wait } = asking;
  const { ladder } = rest;
  if (!standsAt(ladder, ladderId, wanted.trigger)) return unchanged(rest); // J4
  const waiting = { ...ladder, wait };
  switch (answer.kind) {
    case "claimed elsewhere":
      return unchanged({ ...rest, ladder: null });
    case "defer":
      return deferred(rest, waiting, answer.because, around.now);
    case "launch": {
      const { count, id } = ladder;
      if (rest.stopping) {
        const arm = { kind: "arm retry", ladderId: id, attempt: count, wait, record: true } as const; // J8
        return effects({ ...rest, ladder: waiting }, arm);
      }
      const settled = { kind: "settle retry", attempt: count, reason: "launched" } as const;
      if (rest.job === null) return joined(refused({ ...rest, ladder: null }, wanted, { kind: "removed" }), [settled]);
      // A retry that Forbid drops now is consumed all the same (running 6).
      return joined(admit(rest, { ...wanted, job: rest.job }, around), [settled]);
    }
  }
}

function retryResumed(state: JobState, retry: ResumedRetry): Turn {
  const { job, ladder } = state;
  if (job === null || ladder !== null || state.runs.size > 0 || state.stopping) return unchanged(state);
  const resumed = resumedLadder(state.nextLadderId, job.retry, retry);
  const { id, count, wait } = resumed;
  return effects(
    { ...state, ladder: resumed, nextLadderId: state.nextLadderId + 1 },
    { kind: "arm retry", ladderId: id, attempt: count, wait, record: true },
  );
}

function manualStart(
  state: JobState,
  { request, by, runId }: { request: number; by: string | null; runId: RunId },
  around: Around,
): Turn {
  const { job } = state;
  const trigger = { kind: "manual", by } as const;
  if (job === null) return refused(state, { trigger, request }, { kind: "removed" });
  if (!job.enabled) return refused(state, { trigger, request }, { kind: "disabled" });
  if (state.stopping) return refused(state, { trigger, request }, { kind: "shutting-down" });
  return pooledOrAdmitted({ ...state, bootPending: false }, { runId, trigger, job, request }, around);
}

/** A missed slot that is made up for. Whether it may go was looked at just before; a race ends here (CAT-14). */
function caughtUp(
  state: JobState,
  { request, slot, runId }: { request: number; slot: EpochMs; runId: RunId },
  around: Around,
): Turn {
  const { owner, now } = around;
  const { job } = state;
  const wanted = { trigger: { kind: "catch-up", slot }, request } as const;
  if (job === null) return refused(state, wanted, { kind: "removed" });
  if (!job.enabled) return refused(state, wanted, { kind: "disabled" });
  if (state.stopping) return refused(state, wanted, { kind: "shutting-down" });
  if (owner !== null && owner.kind !== "here") {
    return refused(state, wanted, { kind: "not-owner", owner: owner.kind === "elsewhere" ? owner.owner : null });
  }
  const pause = pauseInForce(state.pause, now);
  if (pause !== null) return refused(state, wanted, { kind: "paused", until: pause.until, note: pause.note });
  return pooledOrAdmitted(state, { ...wanted, runId, job }, around);
}

function markRunning(state: JobState, event: Extract<JobEvent, { kind: "spawned" }>): JobState {
  const run = state.runs.get(event.runId);
  if (run === undefined || run.phase !== "launching") return state;
  const running = { ...run, phase: "running", startedAt: event.startedAt, pid: event.pid } as const;
  return { ...state, runs: new Map(state.runs).set(run.runId, running) };
}

function minute(state: JobState, runId: RunId, around: Around): Turn {
  if (pauseInForce(state.pause, around.now) !== null) return unchanged(state);
  const said = state.pause === null ? [] : [log("info", `Job ${state.name}: its pause has ended`)];
  const awake: JobState = { ...state, pause: null };
  return joined(state.bootPending ? boot(awake, runId, around) : unchanged(awake), said);
}

function configured(state: JobState, job: JobState["job"]): Turn {
  if (job === null) return unchanged({ ...state, job, pause: null, bootPending: false });
  return unchanged({ ...state, job });
}

/**
 * F-32: timers stop without settling; starts that wait are refused, but for a retry that is being consumed (J8), and for what waits in a
 * pool: it stays there. Completions go on.
 */
function shutdown(state: JobState): Turn {
  const turn = state.ladder?.wait == null ? unchanged(state) : effects(state, { kind: "drop retry timer" });
  const waiting: Wanted[] = state.waiting === null ? [] : [state.waiting];
  const asking = new Map(state.asking);
  for (const [runId, { gate, wanted }] of asking) {
    if (gate === "retry") continue;
    asking.delete(runId);
    if (gate !== "pool" || wanted.request !== null) waiting.push(wanted);
  }
  const said = waiting.flatMap((wanted) => refusal(wanted, { kind: "shutting-down" }));
  return effects({ ...state, asking, stopping: true, waiting: null }, ...turn.effects, ...said);
}

function asks(state: JobState, asking: Asking): JobState {
  return { ...state, asking: new Map(state.asking).set(asking.wanted.runId, asking) };
}

/** The start that stood at this gate, and the state without it; null when it stands there no more. */
function answeredAt<G extends Asking["gate"]>(
  state: JobState,
  runId: RunId,
  gate: G,
): { readonly asking: Extract<Asking, { gate: G }> | null; readonly rest: JobState } {
  const found = state.asking.get(runId);
  if (found === undefined || !isAt(found, gate)) return { asking: null, rest: state };
  const asking = new Map(state.asking);
  asking.delete(runId);
  return { asking: found, rest: { ...state, asking } };
}

function isAt<G extends Asking["gate"]>(asking: Asking, gate: G): asking is Extract<Asking, { gate: G }> {
  return asking.gate === gate;
}

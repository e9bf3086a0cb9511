/**
 * How one job catches up (state 8), as a step: state and event in, state and effects out. Numbered rules, cited where they are kept:
 *   B1. One window at a time, in the order they came; a window goes only when it is the one that was decided (CAT-23, CAT-25).
 *   B2. What cannot be decided now is looked at again in 30 s, with the same bounds (CAT-12, CAT-21).
 *   B3. An open checkpoint is on disk before anything else of a cycle happens, and closed after its last run has ended (CAT-6).
 *   B4. Before each launch everything is asked again: that the job still catches up, that it is ours, that it is not paused (CAT-14).
 *       What fails there ends the cycle and leaves its checkpoint open for the next start (CAT-5, CAT-7).
 *   B5. An evaluation that owes nothing closes whatever is open (CAT-8).
 *   B6. Any actual start after the skipped slot satisfies the resume window of a run-once job (CAT-22).
 *   B7. From a window's first moment until its checkpoint is open, or it is known to owe nothing, the rows of the job's new runs wait: one
 *       of them on disk would move the watermark beyond slots that a crash now would leave to nobody (CAT-1).
 */
import type { EpochMs } from "../../platform/clock.ts";
import {
  CATCHUP_LAUNCHES_MAX,
  CATCHUP_RETRY_MS,
  CLOSE_ATTEMPTS_MAX,
  IDLE_WAIT_MAX_MS,
  RESUME_WINDOWS_MAX,
} from "../limits.ts";
import {
  type CatchUpFacts,
  type CatchUpPolicy,
  type CatchUpWindow,
  type Owed,
  owedRuns,
  pinWatermark,
} from "./owed.rules.ts";

export interface BackfillState {
  readonly job: string;
  /** Windows to decide, the first one first. */
  readonly windows: readonly CatchUpWindow[];
  readonly phase: Phase;
  /** The newest actual start of the job since there is something to decide; null when none. */
  readonly lastStartAt: EpochMs | null;
  /** Watermark of the cycle that is done and whose close did not land: what is on disk of it binds this process no more. */
  readonly doneUnclosed: EpochMs | null;
}

/** What the first window is at. Each phase waits for exactly one answer. */
export type Phase =
  | { readonly kind: "resting" }
  /** The facts are asked for; `cycle` when a cycle is open and only counted again. */
  | { readonly kind: "reading"; readonly cycle: "new" | "open" }
  /** Undecided until it is woken; `covered` when no row can hide what is owed (B7). */
  | { readonly kind: "deferred"; readonly covered: boolean }
  /** The backlog of a paused job is being written down. */
  | { readonly kind: "pinning" }
  | { readonly kind: "opening" }
  /** Waits for the job's offset. */
  | { readonly kind: "jittering" }
  /** Waits until the job is idle, to launch the first of `slots` or, without any, to close. */
  | { readonly kind: "awaiting idle"; readonly slots: readonly EpochMs[]; readonly watermark: EpochMs | null }
  | { readonly kind: "launching"; readonly slots: readonly EpochMs[]; readonly watermark: EpochMs | null }
  /** The launch was refused; the same slot again when it is woken. */
  | { readonly kind: "refused"; readonly slots: readonly EpochMs[]; readonly watermark: EpochMs | null }
  | { readonly kind: "closing"; readonly watermark: EpochMs | null; readonly attempt: number }
  /** The closing record did not land. */
  | { readonly kind: "closing again"; readonly watermark: EpochMs | null; readonly attempt: number };

export type BackfillEvent =
  /** Something to decide. */
  | { readonly kind: "window"; readonly window: CatchUpWindow }
  | { readonly kind: "facts"; readonly facts: CatchUpFacts | null }
  | { readonly kind: "written"; readonly landed: boolean }
  | { readonly kind: "woken" }
  /** The job has no live run, or the wait for that is over. */
  | { readonly kind: "idle" }
  | { readonly kind: "launched"; readonly started: boolean }
  /** A run of the job has really started, whatever started it. */
  | { readonly kind: "started"; readonly at: EpochMs };

/** How the job stands at the moment of an event. */
export interface Standing {
  /** Null: gone, disabled, `onMissed: skip`, or no timetable. */
  readonly policy:
    | (CatchUpPolicy & { readonly offsetMs: number; readonly concurrencyPolicy: "Allow" | "Forbid" | "Replace" })
    | null;
  readonly owner: "here" | "elsewhere" | "unclear";
  readonly paused: boolean;
}

export type BackfillEffect =
  | { readonly kind: "read facts" }
  | { readonly kind: "write"; readonly checkpoint: "open" | "close"; readonly watermark: EpochMs | null }
  | { readonly kind: "wake"; readonly afterMs: number }
  /** Answer with "idle" when the job has no live run, or after the patience; null waits for as long as it takes (CAT-10). */
  | { readonly kind: "await idle"; readonly patienceMs: number | null }
  /** Without retries, under the job's concurrency policy (CAT-10). */
  | { readonly kind: "launch"; readonly slot: EpochMs }
  | { readonly kind: "log"; readonly level: "info" | "warning"; readonly message: string };

export interface BackfillTurn {
  readonly state: BackfillState;
  readonly effects: readonly BackfillEffect[];
}

export function freshBackfill(job: string): BackfillState {
  return { job, windows: [], phase: { kind: "resting" }, lastStartAt: null, doneUnclosed: null };
}

/** Whether rows of new runs may go to the ledger: what is owed stands in a checkpoint, or nothing is (B7). */
export function isCovered({ phase }: BackfillState): boolean {
  switch (phase.kind) {
    case "reading":
      return phase.cycle === "open";
    case "deferred":
      return phase.covered;
    case "pinning":
    case "opening":
      return false;
    default:
      return true;
  }
}

/** Nothing to decide, and nothing to remember. */
export function isAtRest({ windows, doneUnclosed }: BackfillState): boolean {
  return windows.length === 0 && doneUnclosed === null;
}

/** One event of one job that catches up. An event that the phase does not wait for changes nothing. */
export function stepBackfill(state: BackfillState, event: BackfillEvent, standing: Standing): BackfillTurn {
  const { phase } = state;
  switch (event.kind) {
    case "window":
      return queued(state, event.window, standing);
    case "started":
      return only({ ...state, lastStartAt: Math.max(event.at, state.lastStartAt ?? event.at) });
    case "facts":
      return phase.kind === "reading" ? judged(state, event.facts, phase.cycle, standing) : only(state);
    case "written":
      return written(state, event.landed, standing);
    case "woken":
      return woken(state, standing);
    case "idle":
      return phase.kind === "awaiting idle" ? idle(state, phase, standing) : only(state);
    case "launched":
      return phase.kind === "launching" ? launched(state, phase, event.started, standing) : only(state);
  }
}

function queued(state: BackfillState, window: CatchUpWindow, standing: Standing): BackfillTurn {
  const windows = [...state.windows, window];
  if (state.windows.length === 0) return consider({ ...state, windows, lastStartAt: null }, standing);
  if (windows.length <= RESUME_WINDOWS_MAX) return only({ ...state, windows });
  // The first one may be under way; the oldest that only waits goes.
  const [first, , ...rest] = windows;
  const kept = first === undefined ? rest : [first, ...rest];
  const message = `catch-up: too many pending resume windows for ${state.job}; dropping the oldest window`;
  return only({ ...state, windows: kept }, { kind: "log", level: "warning", message });
}

/** The first window: what is to be known before its evaluation. */
function consider(state: BackfillState, { policy, owner }: Standing): BackfillTurn {
  if (state.windows.length === 0) return only({ ...state, phase: { kind: "resting" } });
  // Whether a checkpoint is to be closed is in the store, also for a job that catches up no more.
  if (policy === null || owner === "here") {
    return only({ ...state, phase: { kind: "reading", cycle: "new" } }, { kind: "read facts" });
  }
  if (owner === "unclear") return deferred(state, "covered"); // B2; nothing of it fires meanwhile
  const message = `catch-up: ${state.job} belongs to another node, which replays what it missed`;
  return decided(state, { policy, owner, paused: false }, { kind: "log", level: "info", message });
}

function judged(
  state: BackfillState,
  facts: CatchUpFacts | null,
  cycle: "new" | "open",
  standing: Standing,
): BackfillTurn {
  const [window] = state.windows;
  if (window === undefined) return only({ ...state, phase: { kind: "resting" } });
  const { policy, owner, paused } = standing;
  if (cycle === "open") {
    if (policy === null || owner !== "here") return stopped(state, standing); // B4
    if (facts === null) return resumeLater(state);
    if (paused) return stopped(state, standing);
    return counted(state, owed(state, window, facts, policy), standing);
  }
  if (facts === null) return deferred(state, "uncovered"); // B2
  if (policy === null) return closedIfOpen(state, facts, standing);
  if (owner !== "here") return consider(state, standing);
  if (paused) return pinned(state, window, facts);
  const { slots, watermark } = owed(state, window, facts, policy);
  if (slots.length === 0) return closedIfOpen(state, facts, standing); // B5
  if (facts.open === watermark) return jittering(state, standing); // it is on disk already
  return only(
    { ...state, phase: { kind: "opening" } },
    { kind: "write", checkpoint: "open", watermark }, // B3
  );
}

function jittering(state: BackfillState, { policy }: Standing): BackfillTurn {
  return only({ ...state, phase: { kind: "jittering" } }, { kind: "wake", afterMs: policy?.offsetMs ?? 0 });
}

/** The count, nothing when a start has satisfied it (B6). */
function owed(state: BackfillState, window: CatchUpWindow, facts: CatchUpFacts, policy: CatchUpPolicy): Owed {
  const open = facts.open === state.doneUnclosed ? "none" : facts.open;
  const found = owedRuns(window, { ...facts, open }, policy);
  const satisfied =
    window.kind === "resume" &&
    policy.onMissed === "run-once" &&
    state.lastStartAt !== null &&
    state.lastStartAt > window.after;
  return satisfied ? { ...found, slots: [], truncated: false } : found;
}

/** The cycle has waited its offset and was counted again. */
function counted(state: BackfillState, { slots, watermark, truncated }: Owed, standing: Standing): BackfillTurn {
  if (slots.length === 0) return closing(state, watermark, 1); // B5
  const said: BackfillEffect[] = [];
  if (truncated) {
    const message = `catch-up: ${state.job} missed more than ${CATCHUP_LAUNCHES_MAX} runs; replaying the oldest ${CATCHUP_LAUNCHES_MAX} and dropping the rest`;
    said.push({ kind: "log", level: "warning", message });
  }
  const message = `catch-up: replaying ${slots.length} missed run(s) for ${state.job}`;
  said.push({ kind: "log", level: "info", message });
  return awaitIdle(state, slots, watermark, standing, ...said);
}

function written(state: BackfillState, landed: boolean, standing: Standing): BackfillTurn {
  const { phase } = state;
  switch (phase.kind) {
    case "pinning":
      return deferred(state, landed ? "covered" : "uncovered");
    case "opening":
      return landed ? jittering(state, standing) : deferred(state, "uncovered"); // B2, B3
    case "closing": {
      const { watermark, attempt } = phase;
      if (landed) return decided({ ...state, doneUnclosed: null }, standing);
      if (attempt < CLOSE_ATTEMPTS_MAX) {
        const again: Phase = { kind: "closing again", watermark, attempt: attempt + 1 };
        return only({ ...state, phase: again }, { kind: "wake", afterMs: CATCHUP_RETRY_MS });
      }
      const message = `catch-up: the checkpoint of ${state.job} could not be closed; the next start looks at it again`;
      return decided({ ...state, doneUnclosed: watermark }, standing, { kind: "log", level: "warning", message });
    }
    default:
      return only(state);
  }
}

function woken(state: BackfillState, standing: Standing): BackfillTurn {
  const { phase } = state;
  switch (phase.kind) {
    case "deferred":
      return consider(state, standing);
    case "jittering":
      return only({ ...state, phase: { kind: "reading", cycle: "open" } }, { kind: "read facts" });
    case "refused":
      return awaitIdle(state, phase.slots, phase.watermark, standing);
    case "closing again":
      return closing(state, phase.watermark, phase.attempt);
    default:
      return only(state);
  }
}

function idle(
  state: BackfillState,
  { slots, watermark }: Extract<Phase, { kind: "awaiting idle" }>,
  standing: Standing,
): BackfillTurn {
  const [slot] = slots;
  if (slot === undefined) return closing(state, watermark, 1); // B3
  if (standing.policy === null || standing.owner !== "here" || standing.paused) return stopped(state, standing); // B4
  const [window] = state.windows;
  const once = window?.kind === "resume" && standing.policy.onMissed === "run-once";
  if (once && state.lastStartAt !== null && state.lastStartAt > window.after) return closing(state, watermark, 1); // B6
  return only({ ...state, phase: { kind: "launching", slots, watermark } }, { kind: "launch", slot });
}

function launched(
  state: BackfillState,
  { slots, watermark }: Extract<Phase, { kind: "launching" }>,
  started: boolean,
  standing: Standing,
): BackfillTurn {
  if (started) return awaitIdle(state, slots.slice(1), watermark, standing);
  return only({ ...state, phase: { kind: "refused", slots, watermark } }, { kind: "wake", afterMs: CATCHUP_RETRY_MS });
}

function awaitIdle(
  state: BackfillState,
  slots: readonly EpochMs[],
  watermark: EpochMs | null,
  { policy }: Standing,
  ...said: readonly BackfillEffect[]
): BackfillTurn {
  const patienceMs = policy?.concurrencyPolicy === "Forbid" ? null : IDLE_WAIT_MAX_MS;
  return only({ ...state, phase: { kind: "awaiting idle", slots, watermark } }, ...said, {
    kind: "await idle",
    patienceMs,
  });
}

/** A paused job is looked at again; until then its checkpoint remembers what was owed before the pause (CAT-13). */
function pinned(state: BackfillState, window: CatchUpWindow, facts: CatchUpFacts): BackfillTurn {
  const watermark = pinWatermark(window, facts);
  if (facts.open !== "none" || watermark === null) return deferred(state, "covered");
  return only({ ...state, phase: { kind: "pinning" } }, { kind: "write", checkpoint: "open", watermark });
}

function closedIfOpen(state: BackfillState, facts: CatchUpFacts, standing: Standing): BackfillTurn {
  return facts.open === "none" ? decided(state, standing) : closing(state, facts.open, 1);
}

/** The end of a cycle on disk. Where another window waits, the same record opens that one's: a crash in between would lose it (B7). */
function closing(state: BackfillState, watermark: EpochMs | null, attempt: number): BackfillTurn {
  const phase: Phase = { kind: "closing", watermark, attempt };
  const [, next] = state.windows;
  return only(
    { ...state, phase },
    next?.kind === "resume"
      ? { kind: "write", checkpoint: "open", watermark: next.after }
      : { kind: "write", checkpoint: "close", watermark },
  );
}

/** The cycle ends here and its checkpoint stays open: the next start of the node that owns the job goes on with it (CAT-7). */
function stopped(state: BackfillState, standing: Standing): BackfillTurn {
  const because =
    standing.policy === null
      ? "it does not catch up any more"
      : standing.owner !== "here"
        ? "it belongs to another node now"
        : "it is paused";
  const message = `catch-up: stopped replaying missed runs of ${state.job}: ${because}`;
  return decided(state, standing, { kind: "log", level: "info", message });
}

/** The first window is dealt with; the next one's turn (B1). */
function decided(state: BackfillState, standing: Standing, ...said: readonly BackfillEffect[]): BackfillTurn {
  const turn = consider({ ...state, windows: state.windows.slice(1) }, standing);
  return { state: turn.state, effects: [...said, ...turn.effects] };
}

function deferred(state: BackfillState, rows: "covered" | "uncovered"): BackfillTurn {
  const phase: Phase = { kind: "deferred", covered: rows === "covered" };
  return only({ ...state, phase }, { kind: "wake", afterMs: CATCHUP_RETRY_MS });
}

/** The cycle is open and the store does not tell how much it owes: counted again in a while. */
function resumeLater(state: BackfillState): BackfillTurn {
  return only({ ...state, phase: { kind: "jittering" } }, { kind: "wake", afterMs: CATCHUP_RETRY_MS });
}

function only(state: BackfillState, ...effects: readonly BackfillEffect[]): BackfillTurn {
  return { state, effects };
}

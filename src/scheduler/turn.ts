import type { NotRunReason } from "../contract/reason.ts";
import type { Trigger } from "../contract/run.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { JobEffect, JobState, Wanted } from "./job-state.ts";

/** What one event comes to: the state after it, and what is to be done, in this order. */
export interface Turn {
  readonly state: JobState;
  readonly effects: readonly JobEffect[];
}

export function effects(state: JobState, ...list: readonly JobEffect[]): Turn {
  return { state, effects: list };
}

export function unchanged(state: JobState): Turn {
  return { state, effects: [] };
}

/** `turn` with `before` done first. */
export function joined(turn: Turn, before: readonly JobEffect[]): Turn {
  return { state: turn.state, effects: [...before, ...turn.effects] };
}

export function log(level: "debug" | "info" | "warning", message: string): JobEffect {
  return { kind: "log", level, message };
}

/** A start that does not go on: its reason, and the answer for who asked (J1). */
export function refused(state: JobState, wanted: Pick<Wanted, "trigger" | "request">, reason: NotRunReason): Turn {
  return effects(state, ...refusal(wanted, reason));
}

export function refusal({ trigger, request }: Pick<Wanted, "trigger" | "request">, reason: NotRunReason): JobEffect[] {
  const refuse: JobEffect = { kind: "refuse", trigger, slot: slotOf(trigger), reason };
  return request === null ? [refuse] : [refuse, { kind: "answer start", request, answer: { kind: "refused", reason } }];
}

/** The slot that a refused start leaves unserved; what is caught up is accounted for by catch-up itself. */
function slotOf(trigger: Trigger): EpochMs | null {
  return trigger.kind === "schedule" ? trigger.slot : null;
}

/**
 * A start of a pooled job: into the queue, and out of it when it is admitted (running 19.4, F-21, F-26, F-31). The numbered rules are in
 * job.rules.ts.
 */
import type { RunId } from "../contract/run.ts";
import { admitWith, endLadder, resetLadder } from "./admission.rules.ts";
import type { Around, Asking, JobState, PoolAnswer, Wanted } from "./job-state.ts";
import { deferRetry, type Ladder, type RetryWait, standsAt } from "./ladder.rules.ts";
import { effects, joined, log, refused, type Turn, unchanged } from "./turn.ts";

type Queued = Extract<Asking, { gate: "pool" }>;

/** Puts a start into its job's pool. A fire ends the retries in progress before that, and waits with a ladder of its own (F-21). */
export function enterPool(state: JobState, wanted: Wanted): Turn {
  const { trigger, job } = wanted;
  const isFire = trigger.kind === "schedule" || trigger.kind === "boot";
  const laddered = isFire ? resetLadder(state, job) : unchanged(state);
  const ladderId = trigger.kind === "catch-up" ? null : (laddered.state.ladder?.id ?? null);
  return joined(queue(laddered.state, { gate: "pool", wanted, ladderId, wait: null }), laddered.effects);
}

/** A due retry of a pooled job waits in the pool like any start; it is consumed when it is admitted (F-31). */
export function enterPoolForRetry(
  state: JobState,
  wanted: Wanted,
  ladder: Ladder & { readonly wait: RetryWait },
): Turn {
  return queue(
    { ...state, ladder: { ...ladder, wait: null } },
    { gate: "pool", wanted, ladderId: ladder.id, wait: ladder.wait },
  );
}

function queue(state: JobState, asking: Queued): Turn {
  const { runId } = asking.wanted;
  const held = state.ladder !== null && state.ladder.id === asking.ladderId ? state.ladder : null;
  return effects(
    { ...state, asking: new Map(state.asking).set(runId, asking) },
    {
      kind: "enter pool",
      wanted: asking.wanted,
      attempt: held?.count ?? 0,
      retryEpoch: held?.poolEpoch ?? null,
      armedAt: asking.wait?.armedAt ?? null,
    },
  );
}

/** The pool has taken the start in, or not. */
export function poolAnswered(state: JobState, runId: RunId, answer: PoolAnswer, around: Around): Turn {
  const asking = state.asking.get(runId);
  if (asking?.gate !== "pool") return unchanged(state);
  const { wanted, ladderId, wait } = asking;
  const held = state.ladder !== null && state.ladder.id === ladderId ? state.ladder : null;
  if (answer.kind === "queued") {
    const ladder = held === null ? state.ladder : { ...held, poolEpoch: answer.retryEpoch };
    const { request } = wanted;
    if (request === null || wanted.trigger.kind !== "manual") return unchanged({ ...state, ladder });
    const told: Queued = { ...asking, wanted: { ...wanted, request: null } };
    const { pool, queueId } = answer;
    return effects(
      { ...state, ladder, asking: new Map(state.asking).set(runId, told) },
      { kind: "answer start", request, answer: { kind: "queued", pool, queueId } },
    );
  }
  const rest = without(state, runId);
  if (answer.kind === "superseded") return held === null ? unchanged(rest) : endLadder(rest, "superseded");
  if (wait !== null) return held === null ? unchanged(rest) : waitsOutside(rest, { ...held, wait }, answer.why, around);
  const { kind, pool, why } = answer;
  return refused(
    rest,
    wanted,
    kind === "refused" ? { kind: "pool-refused", pool, why } : { kind: "pool-unavailable", pool },
  );
}

/** A due retry that the pool does not take in keeps its attempt and comes again (F-31). */
function waitsOutside(
  state: JobState,
  ladder: Ladder & { readonly wait: RetryWait },
  why: string,
  { now }: Around,
): Turn {
  const later = deferRetry(ladder, now);
  return effects(
    { ...state, ladder: later },
    log(
      ladder.wait.deferred ? "debug" : "warning",
      `Job ${state.name} retry #${ladder.count} waiting for pool admission: ${why}`,
    ),
    { kind: "arm retry", ladderId: ladder.id, attempt: ladder.count, wait: later.wait, record: false },
  );
}

/**
 * The start has its place. One that another process queued, this node's last one or a peer, is made anew from what its entry says: a fire
 * of it comes with a ladder of its own.
 *
 * @param ladderEnded a newer fire, a success or a cancel came since it was queued
 */
export function poolAdmitted(
  state: JobState,
  {
    runId,
    queued,
    ladderEnded,
    retryEpoch,
  }: { runId: RunId; queued: Wanted; ladderEnded: boolean; retryEpoch: number },
  around: Around,
): Turn {
  const known = state.asking.get(runId);
  if (state.stopping || state.job === null) return effects(state, { kind: "leave pool", runId, used: false });
  const asking = known?.gate === "pool" ? known : null;
  const wanted: Wanted = { ...(asking?.wanted ?? queued), job: state.job };
  const rest = without(state, runId);
  const isFire = wanted.trigger.kind === "schedule" || wanted.trigger.kind === "boot";
  const laddered = asking === null && isFire && !ladderEnded ? resetLadder(rest, state.job) : unchanged(rest);
  const { ladder } = laddered.state;
  const heldId = asking === null ? (isFire ? (ladder?.id ?? null) : null) : asking.ladderId;
  if (wanted.trigger.kind === "retry") {
    if (!standsAt(ladder, asking === null ? null : heldId, wanted.trigger)) {
      return effects(rest, { kind: "leave pool", runId, used: true }); // its sequence has ended, or waits anew
    }
    const wait = asking?.wait ?? { dueAt: around.now, delaySeconds: 1, armedAt: around.now, deferred: true };
    const consuming: Asking = { gate: "retry", wanted, ladderId: ladder.id, wait };
    return effects(
      { ...rest, asking: new Map(rest.asking).set(runId, consuming) },
      { kind: "ask retry", wanted, attempt: ladder.count },
    );
  }
  const ladderId = ladderEnded ? null : heldId;
  const kept: JobState =
    ladder !== null && ladder.id === heldId
      ? { ...laddered.state, ladder: ladderEnded ? null : { ...ladder, poolEpoch: retryEpoch } }
      : laddered.state;
  return joined(admitWith(kept, { ...wanted, ladderId }, around), laddered.effects);
}

/** The start left the queue without being admitted here. `why` null: another node ran it. */
export function poolLeft(state: JobState, runId: RunId, pool: string, why: string | null): Turn {
  const asking = state.asking.get(runId);
  if (asking?.gate !== "pool") return unchanged(state);
  const rest = without(state, runId);
  const holds = rest.ladder !== null && rest.ladder.id === asking.ladderId;
  if (why === null) return unchanged(holds ? { ...rest, ladder: null } : rest); // it goes on there, retries and all
  const turn = holds && asking.wait !== null ? endLadder(rest, "deadline-passed") : unchanged(rest);
  return joined(refused(turn.state, asking.wanted, { kind: "pool-refused", pool, why }), turn.effects);
}

function without(state: JobState, runId: RunId): JobState {
  const asking = new Map(state.asking);
  asking.delete(runId);
  return { ...state, asking };
}

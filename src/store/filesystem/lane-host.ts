import { attempt } from "../attempt.ts";
import { type Engine, lockKey, operationTraits } from "../engine.ts";
import type { FromLane, LaneAnswer, LaneRequest, ToLane } from "./lane-messages.ts";
import { ANSWER_DELAY_MS, LOCK_RETRY_MAX_MS, LOCK_RETRY_MIN_MS } from "./limits.ts";

/** Requests that wait for one lock, in order. */
interface Parked {
  readonly requests: LaneRequest[];
  readonly sinceMs: number;
  tryAtMs: number;
  delayMs: number;
}

export interface LaneHost {
  /** Takes a message from the main thread and does all there is to do. */
  receive(message: ToLane): void;
  warn(message: string): void;
  /** Posts what has not been posted yet. */
  flush(): void;
}

/**
 * The far side of a lane: runs requests one after the other.
 *
 * A lock somebody else holds never stops the lane. The request is put aside and tried again shortly, and later ones for the same
 * lock line up behind it; all others go on (THR-1).
 */
export function laneHost(
  engine: Engine,
  elapsedMs: () => number,
  post: (message: FromLane) => void,
  after: (delayMs: number, run: () => void) => void,
): LaneHost {
  const parked = new Map<string, Parked>();
  let answers: LaneAnswer[] = [];
  let warnings: string[] = [];
  let firstAnswerMs = 0;
  let wakeAtMs = Number.POSITIVE_INFINITY;

  const flush = (): void => {
    if (answers.length === 0 && warnings.length === 0) return;
    post({ answers, warnings });
    answers = [];
    warnings = [];
  };

  const answer = (answer: LaneAnswer): void => {
    const now = elapsedMs();
    if (answers.length === 0) firstAnswerMs = now;
    answers.push(answer);
    if (now - firstAnswerMs >= ANSWER_DELAY_MS) flush();
  };

  /** @returns false when the request's lock is busy */
  const run = (request: LaneRequest, waitedMs: number): boolean => {
    const { id, operation, args, deadlineMs } = request;
    const startMs = elapsedMs();
    const lockWaitSeconds = waitedMs / 1000;
    if (operationTraits[operation].afterDeadline === "drop" && startMs > deadlineMs) {
      answer({ id, outcome: { kind: "unknown", because: "not begun in time" }, seconds: 0, lockWaitSeconds });
      return true;
    }
    const outcome = attempt(engine, operation, args);
    if (outcome.kind === "busy") return false;
    answer({ id, outcome, seconds: (elapsedMs() - startMs) / 1000, lockWaitSeconds });
    return true;
  };

  const take = (request: LaneRequest): void => {
    const key = lockKey(request.operation, request.args);
    const waiting = key === null ? undefined : parked.get(key);
    if (waiting !== undefined) waiting.requests.push(request);
    else if (!run(request, 0) && key !== null) {
      const now = elapsedMs();
      const delayMs = LOCK_RETRY_MIN_MS;
      parked.set(key, { requests: [request], sinceMs: now, tryAtMs: now + delayMs, delayMs });
    }
  };

  const retry = (): void => {
    for (const [key, waiting] of parked) {
      const now = elapsedMs();
      if (waiting.tryAtMs > now) continue;
      let delayMs = Math.min(waiting.delayMs * 2, LOCK_RETRY_MAX_MS);
      for (let next = waiting.requests[0]; next !== undefined && run(next, now - waiting.sinceMs); ) {
        waiting.requests.shift();
        next = waiting.requests[0];
        delayMs = LOCK_RETRY_MIN_MS;
      }
      if (waiting.requests.length === 0) parked.delete(key);
      waiting.delayMs = delayMs;
      waiting.tryAtMs = elapsedMs() + delayMs;
    }
  };

  /** One timer at a time, for the earliest retry. */
  const scheduleRetry = (): void => {
    const nextMs = Math.min(...[...parked.values()].map((waiting) => waiting.tryAtMs));
    if (nextMs >= wakeAtMs || nextMs === Number.POSITIVE_INFINITY) return;
    wakeAtMs = nextMs;
    after(Math.max(0, nextMs - elapsedMs()), () => {
      wakeAtMs = Number.POSITIVE_INFINITY;
      retry();
      scheduleRetry();
      flush();
    });
  };

  return {
    receive(message) {
      if (message.kind === "learn") engine.learn(message.lesson);
      if (message.kind !== "run") return;
      for (const request of message.requests) {
        if (parked.size > 0) retry();
        take(request);
      }
      scheduleRetry();
      flush();
    },
    warn(message) {
      warnings.push(message);
    },
    flush,
  };
}

import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { Outcome } from "../store/store.ts";
import { TROUBLE_LOG_MS } from "./limits.ts";
import { Refusal } from "./refusal.ts";
import { notPortable } from "./request-fields.ts";

/** Turns what the store answers into what a job is told. */
export interface StoreTrouble {
  /** The value of an operation that is done. @throws Refusal for every other outcome: 400 or 503 (V1-3) */
  valueOf<T>(outcome: Outcome<T>): T;
  /** Logs why the store did not do what a job asked for. @returns what the job is told */
  refusal(why: string): Refusal;
}

export function storeTrouble(clock: Clock, log: Logger): StoreTrouble {
  let warnAgainAt = Number.NEGATIVE_INFINITY;

  const refusal = (why: string): Refusal => {
    const now = clock.elapsedNow();
    const message = `state: a job's request was not served: ${why}`;
    if (now < warnAgainAt) log.debug(message);
    else log.warning(message);
    if (now >= warnAgainAt) warnAgainAt = now + TROUBLE_LOG_MS;
    return new Refusal(503, "state backend unavailable; the reason is in the cronstable log");
  };

  return {
    refusal,
    valueOf(outcome) {
      if (outcome.kind === "done") return outcome.value;
      if (outcome.kind === "unknown") throw refusal(outcome.because);
      const { reason, message } = outcome.failure;
      if (reason === "not portable") throw notPortable(message);
      if (reason === "closed") throw new Refusal(503, "state backend is unavailable");
      throw refusal(message);
    },
  };
}

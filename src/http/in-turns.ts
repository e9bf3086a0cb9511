import { setImmediate } from "node:timers/promises";
import type { Clock } from "../platform/clock.ts";
import type { Sliced } from "../schedule/fleet.ts";
import { BUILD_SLICE_MS } from "./limits.ts";

/** Does work that can be put down, a few milliseconds per turn of the event loop, so that no job starts late for it. */
export async function inTurns<Result>(clock: Clock, work: Sliced<Result>): Promise<Result> {
  let until = clock.elapsedNow() + BUILD_SLICE_MS;
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock.elapsedNow() < until) continue;
    await setImmediate();
    until = clock.elapsedNow() + BUILD_SLICE_MS;
  }
}

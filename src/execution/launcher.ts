import type { Launcher } from "../contract/launcher.ts";
import { START_TURN_MS } from "./limits.ts";
import { type QueuedRun, queuedRun, type RunParts } from "./run.ts";

/** Starts under way at once where a start takes more than a turn (running 1.1 step 8). */
const STARTS_MAX = 16;

/**
 * Starts runs in the order they were asked for, for a few milliseconds per turn of the event loop: a thousand due in one second start as
 * fast as the system can, and nothing else has to wait for them.
 */
export function createLauncher(parts: RunParts): Launcher {
  const queue: QueuedRun[] = [];
  let underWay = 0;
  let turnIsDue = false;

  const turnLater = (): void => {
    if (turnIsDue) return;
    turnIsDue = true;
    setImmediate(turn);
  };

  const turn = (): void => {
    turnIsDue = false;
    const until = parts.clock.elapsedNow() + START_TURN_MS;
    let started = 0;
    while (started < queue.length && underWay < STARTS_MAX && parts.clock.elapsedNow() < until) {
      const run = queue[started++];
      underWay++;
      void run?.start().then(() => {
        underWay--;
        if (queue.length > 0) turnLater();
      });
    }
    queue.splice(0, started);
  };

  return {
    launch(request, onEvent) {
      const run = queuedRun(request, parts, onEvent);
      queue.push(run);
      turnLater();
      return run.live;
    },
  };
}

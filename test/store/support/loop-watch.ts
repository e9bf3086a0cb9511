import { readFileSync } from "node:fs";

/**
 * Watches how much work this thread does in one turn of its event loop. CPU time, not elapsed time: what the machine gives to others
 * meanwhile is no work of ours.
 */
export function watchTurns(): { stop(): { readonly busiestMs: number } } {
  let busiestMs = 0;
  let seenMs = workedMs();
  const look = (): void => {
    const nowMs = workedMs();
    busiestMs = Math.max(busiestMs, nowMs - seenMs);
    seenMs = nowMs;
  };
  const timer = setInterval(look, 1);
  return {
    stop() {
      clearInterval(timer);
      look();
      return { busiestMs };
    },
  };
}

/** CPU time of the main thread so far; nothing where the system does not tell it. */
function workedMs(): number {
  if (process.platform !== "linux") return 0;
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ", 1)[0]) / 1e6;
}

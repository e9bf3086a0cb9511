import { readFileSync } from "node:fs";

/**
 * The longest time the event loop did not come round, less what its thread spent waiting for a processor: on a busy machine that wait is
 * others' doing.
 *
 * @returns stops, and answers in milliseconds
 */
export function longestBlock(): () => number {
  let longest = 0;
  let last = { at: performance.now(), waited: waitedMs() };
  const look = setInterval(() => {
    const now = { at: performance.now(), waited: waitedMs() };
    longest = Math.max(longest, now.at - last.at - (now.waited - last.waited));
    last = now;
  }, 1);
  return () => {
    clearInterval(look);
    return longest;
  };
}

/** Time that this thread was ready to run and did not, by the kernel's count; 0 where it does not count. */
function waitedMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

import koffi from "koffi";

const CLOCK_REALTIME = 0;
const timespec = new BigInt64Array(2);
const clockGettime = process.platform === "win32" ? undefined : koffi.load(null).func("int clock_gettime(int, void *)");

/** Where the monotonic clock stood when the wall clock showed `wallMs`; for platforms without clock_gettime. */
let anchor = { wallMs: 0, elapsedMs: 0 };

/**
 * The wall clock in whole microseconds since the epoch, following its steps (NAM-3). Processes of one machine agree to the
 * microsecond, which milliseconds stretched by a private monotonic clock would not give.
 */
export function wallMicros(): number {
  if (clockGettime?.(CLOCK_REALTIME, timespec) === 0) {
    const [seconds, nanos] = timespec;
    return Number(seconds) * 1_000_000 + Math.floor(Number(nanos) / 1000);
  }
  return stretchedMicros();
}

/** The system's milliseconds, divided by the monotonic clock. The anchor moves when the wall clock stepped or drifted. */
function stretchedMicros(): number {
  const wallMs = Date.now();
  const elapsedMs = performance.now();
  const projectedMs = anchor.wallMs + elapsedMs - anchor.elapsedMs;
  if (projectedMs >= wallMs && projectedMs < wallMs + 1) return Math.floor(projectedMs * 1000);
  anchor = { wallMs, elapsedMs };
  return wallMs * 1000;
}

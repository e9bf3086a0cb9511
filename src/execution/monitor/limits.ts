/** How long a finished run waits for its last reading; past it the run's record has the reading before. */
export const LAST_READING_PATIENCE_MS = 2_000;

/** How long the sampling thread is kept when no run is watched. */
export const IDLE_THREAD_MS = 10_000;

/** Heap of the sampling thread: a host with 30,000 processes needs some 20 MiB. */
export const THREAD_HEAP_MIB = 64;

/** A sampling thread that died this often is not started again: monitoring is off until the daemon is. */
export const THREAD_DEATHS_MAX = 3;

/** How often a group whose run has ended, but not all of its processes, is tried again. */
export const LEFTOVER_RETRY_MS = 60_000;

/** A group younger than this may be that of a run about to start, made by another daemon in the same place. */
export const LEFTOVER_AGE_MIN_MS = 60_000;

/** Passes over the processes beside the daemon: each may have forked while it was moved. */
export const MOVE_PASSES = 8;

/** Jobs named in a warning; how many more there are is said. */
export const NAMED_JOBS_MAX = 20;

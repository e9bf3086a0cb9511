/** Rows of run history kept in memory per job; the oldest goes (running 8). */
export const HISTORY_ROWS_MAX = 50;

/** Refused starts kept in memory per job, for "why did it not run?"; the oldest goes. */
export const REFUSALS_MAX = 50;

/** Work of one turn of the event loop while many jobs are due; the rest waits for the next turn. */
export const SLICE_MS = 8;

/**
 * A wall clock that steps back further than this makes the daemon look for every job's next fire anew: waiting until the old instants
 * come round again would silence jobs for that long. Shorter steps are waited out, so that no slot runs twice.
 */
export const BACKWARD_STEP_MAX_MS = 10 * 60_000;

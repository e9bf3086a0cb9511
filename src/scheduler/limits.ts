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

/** How long one operation on a pool may take (running 19.3). Longer: its state is unavailable. */
export const POOL_OPERATION_DEADLINE_MS = 5_000;

/** How often a pool is looked at while something waits in it, and how soon what could not be written is tried again (running 19.4). */
export const POOL_PASS_MS = 1_000;

/** How often a pool that is idle here is looked at on a shared store: another node may have left work in it. */
export const POOL_IDLE_LOOK_MS = 10_000;

/** Entries admitted in one read-modify-write; the next ones follow at once. */
export const HEADS_PER_CHANGE_MAX = 64;

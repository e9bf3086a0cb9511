/** Longest time that one simulation covers. */
export const SIMULATED_DAYS_MAX = 366;

/** Runs and skipped slots of one simulation. It ends where there are more, and says so. */
export const FIRES_MAX = 150_000;

/** Slots of one job counted in one outage; of more it says "at least". */
export const MISSED_SLOTS_WALKED_MAX = 10_000;

/** Longest run that can be pretended: longer than any simulation. */
export const RUN_SECONDS_MAX = 366 * 86_400;

/** Names of one note; of more it says how many. */
export const NAMES_SHOWN_MAX = 10;

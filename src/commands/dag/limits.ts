/** How often a run that is followed is looked at. */
export const FOLLOW_EVERY_MS = 1_000;

/** How long a daemon may be silent before a run is followed no longer; the run itself goes on. */
export const FOLLOW_SILENCE_MAX_MS = 120_000;

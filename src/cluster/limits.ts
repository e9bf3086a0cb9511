/** How long one store operation of a slot may take (running 7). Longer: the answer is unknown. */
export const SLOT_OPERATION_DEADLINE_MS = 10_000;

/** Least time between two renewals of a slot, and between two looks of a pursuit, however short its time to live. */
export const SLOT_PERIOD_MIN_MS = 1_000;

/** Requests to make way that are kept and looked at per job; the oldest goes. */
export const YIELD_REQUESTS_KEPT = 8;

/** Instances one pass claims, and so launches (D-CLM-11). More: the rest stays claimable, and the next pass follows at once. */
export const CLAIMS_PER_PASS_MAX = 32;

/** Items of one fan-out (D-MAP-10). More: the mapped task fails. */
export const FAN_OUT_ITEMS_MAX = 1000;

/** Bytes of a fan-out's list, judged by its record before it is fetched (D-MAP-12). More: an empty list, and a warning. */
export const FAN_OUT_BYTES_MAX = 16 * 1024 * 1024;

/** A list of this many bytes and more is read off the event loop (8.2). */
export const FAN_OUT_INLINE_BYTES_MAX = 64 * 1024;

/** Instants one catch-up or one backfill creates runs for. More: the rest is dropped with a warning, or left for the next request. */
export const INSTANTS_MAX = 100;

/** How soon a run is looked at again that waits for something this node is not told of: a decision, a list, a slot, a foreign process. */
export const OUTSIDE_WAIT_SECONDS = 5;

/** How soon a run is looked at again that waits for nothing in particular. */
export const IDLE_WAIT_SECONDS = 60;

/** Entries at the head of queues that a node remembers to have looked into. More: it may look into one again. */
export const STRANGERS_MAX = 1000;

/** Artifacts one recovery copies (15). More: it is refused. */
export const RECOVERY_ARTIFACTS_MAX = 10_000;

/** Logical dates of one range recovery (15). More: only the first ones. */
export const RECOVERY_DATES_MAX = 100;

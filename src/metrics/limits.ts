/** Bytes of datagrams that may wait for one destination; more are dropped, since a metric that comes late is worth little. */
export const QUEUED_BYTES_MAX = 1024 * 1024;

/** Age at which a destination's address is looked up again, so that a moved service is found. */
export const ADDRESS_AGE_MAX_MS = 60_000;

/** After a failed lookup, what is sent within this time is dropped: a lookup may hold one of Node's few file threads for seconds. */
export const LOOKUP_REST_MS = 10_000;

/** A destination in trouble counts as well again when nothing has gone wrong for so long after something was sent. */
export const WELL_AFTER_MS = 1_000;

/** How long the end of a run waits for its datagrams. */
export const STOP_PATIENCE_MS = 2_000;

/** Destinations kept at once, a socket each; the one used longest ago is closed for a new one. */
export const DESTINATIONS_MAX = 64;

/** Bytes of a request around the value or artifact it carries: names, keys, JSON punctuation (V1-4). */
export const REQUEST_OVERHEAD_BYTES = 65_536;

/** Bytes that one byte of a value may take in a request: a control character as `\u0000` (V1-4). */
export const ESCAPED_BYTES_PER_BYTE = 6;

/** Bytes of request bodies in memory at once, all runs together, or one whole request if that is more. Beyond: 503. */
export const BODIES_BYTES_MAX = 512 * 1024 * 1024;

/** Open connections. One more is dropped. */
export const CONNECTIONS_MAX = 4096;

/** How long a client may take to send its request line and headers. Longer: 408 and the connection ends. */
export const HEADERS_TIMEOUT_MS = 5_000;

/** How long a client may take to send a whole request. Longer: 408 and the connection ends. */
export const REQUEST_TIMEOUT_MS = 60_000;

/** How often connections are looked over for the two above. */
export const TIMEOUTS_CHECK_MS = 1_000;

/** How long an idle connection stays open for a next request. */
export const KEEP_ALIVE_MS = 5_000;

/** How long the start may take, and the stop (JAP-4). */
export const START_PATIENCE_MS = 10_000;

/** How long a stop waits for locks to be released. */
export const STOP_PATIENCE_MS = 5_000;

/** How long a stop then waits for answers to be sent; a request that is still on its way in is cut. */
export const ANSWER_PATIENCE_MS = 1_000;

/** How long a launch waits for all secrets of the run. Those that are not there by then are not staged. */
export const SECRETS_PATIENCE_MS = 10_000;

/** Permits of one semaphore: they are probed one by one (LOK-2). More: 400. */
export const PERMITS_MAX = 1024;

/** Seconds a lock may live without being renewed; outside, the nearer bound is taken (LOK-4). */
export const LOCK_TTL_SECONDS = { least: 5, most: 2_592_000 } as const;

/** How long one permit is probed (LOK-4). Longer: on to the next permit. */
export const PROBE_DEADLINE_MS = 10_000;

/** How long one walk over the permits may take: less than the client's own patience. Longer: the walk ends where it is. */
export const PASS_MAX_MS = 20_000;

/** Locks one run may hold at once. One more: 429. */
export const HOLDS_PER_RUN_MAX = 1024;

/** Acquires of one run that wait at once. One more: 429. */
export const WAITS_PER_RUN_MAX = 256;

/** How often a renewal or release that the store did not confirm is tried again. */
export const LEASE_RETRY_MS = 1_000;

/** Longest pause between two tries of a release. */
export const LEASE_RETRY_MAX_MS = 60_000;

/** How often certificate files are looked at for a change (JAP-4). */
export const CERTIFICATES_CHECK_MS = 60_000;

/** Store trouble is logged as a warning at most this often, in between at DEBUG: a job in a loop must not flood the log. */
export const TROUBLE_LOG_MS = 5_000;

/** Bytes of a record, document or lease file that is read. Larger: damaged (QUA-2), or an unreadable document. */
export const RECORD_BYTES_MAX = 128 * 1024 * 1024;

/** Bytes of a blob that is read. Larger: unreadable. */
export const BLOB_BYTES_MAX = 2 ** 31 - 1;

/** Streams whose last name and prune countdown are remembered; the longest unused is forgotten and listed anew when next written. */
export const REMEMBERED_STREAMS_MAX = 131_072;

/** Streams whose greatest values are remembered; the longest unused are computed anew. */
export const REMEMBERED_MAXIMA_MAX = 131_072;

/** Keyed streams (artifact scopes) whose keys are remembered; the longest unused is read anew. */
export const REMEMBERED_KEYED_STREAMS_MAX = 512;

/** Characters of a key that is remembered (ART-5). Longer ones are read each time. */
export const REMEMBERED_KEY_CHARS_MAX = 256;

/** Appends to one stream between two prunes (PRU-1). */
export const APPENDS_PER_PRUNE = 8;

/** Least number of own publications between two cleanups of a keyed stream (ART-3). */
export const PUBLICATIONS_PER_CLEANUP_MIN = 8;

/** How often a read starts over when records leave while it reads (ART-4). */
export const RELISTINGS_MAX = 3;

/** How often a lock file is opened again because a sweep unlinked it meanwhile. More: the lock counts as busy. */
export const GHOST_LOCKS_MAX = 50;

/** Files about which a warning has been logged and will not be again. Full: all are forgotten. */
export const WARNED_FILES_MAX = 10_000;

/** Wait before a busy lock is tried again: doubled from the least to the most. */
export const LOCK_RETRY_MIN_MS = 0.5;
export const LOCK_RETRY_MAX_MS = 25;

/** Operations handed to one worker thread and not yet answered; the others wait in the main thread, where they can be reordered. */
export const LANE_WINDOW = 64;

/** A worker posts its answers when the first of them is this old, or when it has nothing more to do. */
export const ANSWER_DELAY_MS = 2;

/** Wait before a worker thread that died is started again. */
export const WORKER_RESTART_MS = 1000;

/** How long a thread is given to end when the store closes. Longer: it hangs in the operating system. */
export const THREAD_END_MS = 1000;

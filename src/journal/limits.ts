/** How long one store operation on a scheduling path may take (WRT-2). Longer: the caller falls back. */
export const OPERATION_DEADLINE_MS = 10_000;

/** Writes of the journal that wait or are under way (WRT-3). One more: shed, and counted as `overflow`. */
export const PENDING_WRITES_MAX = 8192;

/** How long a shutdown waits for pending writes (GEN-7). Longer: they are left to their fate. */
export const FLUSH_PATIENCE_MS = 5_000;

/** Jobs whose streams are read side by side at start (REH-3). */
export const PARALLEL_READS = 16;

/** Rows of run history warmed per job (REH-3); as many as memory keeps. */
export const WARMED_ROWS = 50;

/** Ledger rows decoded in one turn of the event loop. More: others run in between. */
export const DECODE_SLICE_ROWS = 200;

/** How deep the ledger is searched once for what the newest rows do not hold (WM-2, REH-4), or `maxRunsPerJob` if that is more. */
export const DEEP_SEARCH_ROWS = 1000;

/** Ledger rows a trend looks at (TRD-2). */
export const TREND_ROWS_MAX = 5000;

/** How long an answer about trends is kept (TRD-3), and for how many jobs; beyond, the oldest goes. */
export const TREND_CACHE_MS = 5_000;
export const TREND_CACHE_JOBS_MAX = 256;

/** Records the depends-on-past gate reads, and how many when all of those are no verdict (DEP-7). */
export const VERDICT_ROWS = 8;
export const VERDICT_ROWS_DEEP = 50;

/** Points of a foreign resource series that are read (running 17); more are cut off. */
export const SERIES_POINTS_MAX = 4096;

/** Lines of an archived run: the newest (ARC-3); the rest is counted. */
export const ARCHIVED_LINES_MAX = 1000;

/** Characters of an archived run; of more the oldest lines go, and are counted. */
export const ARCHIVED_CHARS_MAX = 8 * 1024 * 1024;

/** Characters redacted on the event loop itself; more goes to a thread. */
export const REDACTED_INLINE_CHARS_MAX = 16 * 1024;

/** Runs whose output waits for the redaction thread. One more: its output is not archived. */
export const REDACTION_QUEUE_MAX = 64;

/** How long the redaction thread waits for more before it ends. */
export const REDACTION_THREAD_IDLE_MS = 30_000;

/** How long a thread may take for one run's output (ARC-3). Longer: the output is not archived. */
export const REDACTION_PATIENCE_MS = 30_000;

/** A recorded pid whose process started this much after its record is another process (INF-4). */
export const PID_START_TOLERANCE_MS = 60_000;

/** How often a node tells what it is configured for (GC-1). */
export const MANIFEST_EVERY_MS = 6 * 3600_000;

/** When a manifest that did not land is tried again. */
export const MANIFEST_RETRY_MS = 600_000;

/**
 * A host whose newest manifest is older than this will not come back under that name: it missed three manifests in a row, so neither
 * one lost write nor a slow one can look like it. Its open runs are then closed by a peer.
 */
export const HOST_SILENCE_MS = 3 * MANIFEST_EVERY_MS;

/**
 * How long a node's own backend must have been up before it judges others silent. After an outage of the store every living host
 * writes a manifest within six hours; judging earlier would take them for gone.
 */
export const HOST_WATCH_MS = MANIFEST_EVERY_MS + 3600_000;

/** How often a node looks for runs of hosts that fell silent. */
export const LOST_HOSTS_EVERY_MS = 3600_000;

/** How often a process collects garbage (GC-1). */
export const COLLECT_EVERY_MS = 24 * 3600_000;

/** Manifest streams a collection reads. More: the pass says so and gives up, since it would not know what the others protect. */
export const MANIFEST_STREAMS_MAX = 2000;

/** Records read of each stream of manifests. */
export const MANIFESTS_READ_MAX = 512;

/** Write-temps older than this are leftovers (GC-6). */
export const TEMPORARY_AGE_MS = 24 * 3600_000;

/** Streams deleted in one collection may take this long (GC). */
export const DELETE_PASS_MS = 600_000;

/** Time to live of a claim on another node's retry (RSM-4). */
export const CLAIM_TTL_MS = 30_000;

/** How late a foreign retry must be before it counts as orphaned (RSM-3). */
export const CLAIM_GRACE_MS = 30_000;

/** How long a claim whose write was not answered is watched for; one that lands later than that waits for a restart. */
export const UNCONFIRMED_CLAIM_MS = 600_000;

/** Least time between two scans for retries to claim, and between two looks at the pauses (RSM-3, 6.4). */
export const SCAN_EVERY_MS = 55_000;

/** Boot markers looked at (BOO-8). */
export const BOOT_MARKERS_READ = 32;

/** Launches of one catch-up cycle under run-all; the rest is dropped and said. */
export const CATCHUP_LAUNCHES_MAX = 100;

/** Recovery windows that wait per job (CAT-21); the oldest is dropped and said. */
export const RESUME_WINDOWS_MAX = 100;

/** How long an evaluation that could not be decided waits for the next attempt (CAT-12). */
export const CATCHUP_RETRY_MS = 30_000;

/** How long a backfill waits for its job to go idle, Forbid apart (CAT-10). */
export const IDLE_WAIT_MAX_MS = 30_000;

/** Attempts to close the checkpoint of a job that catches up no more (CAT-12). */
export const CLOSE_ATTEMPTS_MAX = 3;

/** Least time between two snapshots of the counters (CNT-1). */
export const COUNTERS_EVERY_MS = 15_000;

/** How long reasons of slots that did not run are gathered before they are written. */
export const MISSED_FLUSH_MS = 60_000;

/** Spans gathered per job between two writes; the oldest is dropped. */
export const MISSED_SPANS_MAX = 50;

/** How long the probe of the store's locks may take (TOP-6). Longer: it proves nothing, and is tried again at the next question. */
export const LOCK_PROBE_DEADLINE_MS = 5_000;

/** Time to live of a run's advance lease (6.1). A node that died is followed by another one at most this and one scan later. */
export const ADVANCE_TTL_MS = 30_000;

/** How often an advance lease is renewed (D-OWN-3). */
export const RENEW_EVERY_MS = ADVANCE_TTL_MS / 3;

/** How often new and changed DAGs are looked at for what they missed; a look that the store did not answer is taken again then. */
export const SEED_EVERY_MS = 20_000;

/** How often runs are looked for that nobody advances (D-CRS-1). */
export const ADOPT_EVERY_MS = 30_000;

/** How far apart nodes come that wait for one run's lease to lapse. */
export const ADOPT_SPREAD_MS = 1_000;

/** How often that look reads every document again, finished ones too. */
export const ADOPT_ALL_EVERY_MS = 600_000;

/** How often the queues of pools are looked through for entries that no task waits for any more (D-POL-6). */
export const QUEUE_SWEEP_EVERY_MS = 30_000;

/** How often old runs are deleted (D-RET-3). */
export const RETAIN_EVERY_MS = 3_600_000;

/** How soon a pass that failed or could not be made is tried again. */
export const PASS_RETRY_MS = 5_000;

/** How soon a run that could not be created for its slot is tried again. */
export const CREATE_RETRY_MS = 5_000;

/** How long the end of a task waits for the pass that is to write it down, before it is written by itself. */
export const COMPLETION_PASS_MS = 1_000;

/** Waits between the tries to store how tasks ended; the last one for ever (D-CLM-10). */
export const COMPLETION_RETRY_MS: readonly number[] = [5_000, 10_000, 20_000, 40_000, 60_000];

/** How long ends of instances that nothing waits for are gathered, while others of their fan-out run. */
export const FAN_OUT_GATHER_MS = 100;

/** How long pids of launched tasks are gathered before they are written down together. */
export const STAMP_GATHER_MS = 50;

/** How old a listing of runs may be that shows what other nodes did (D-API-1). */
export const LISTING_MAX_AGE_MS = 5_000;

/** Runs of one DAG read side by side. */
export const PARALLEL_READS = 16;

/** Time to live of the leases under which runs are deleted or recovered from (15, D-RET-4). */
export const GUARD_TTL_MS = 60_000;

/** How long after its leasing a delete may still begin (D-RET-8), and how long leasing the sources of a recovery may take. */
export const GUARD_START_MS = 30_000;

/** Runs deleted in one batch (D-RET-4). */
export const RETENTION_BATCH_MAX = 32;

/** Slots of one DAG that wait to have their runs created (D-SCH-8). The oldest goes, with a warning. */
export const WAITING_SLOTS_MAX = 100;

/** XCom entries shown of one run; more are said to be there. */
export const XCOM_ENTRIES_MAX = 500;

/** Bytes of a payload shown inline. */
export const XCOM_INLINE_BYTES_MAX = 65_536;

/** Days a batch of recoveries is remembered, and protects the runs it recovers from (15). */
export const RECOVERY_KEPT_MS = 7 * 24 * 3_600_000;

/** Containers inside each other that a written value may have, its envelope counted (FMT-5). Deeper: refused. */
export const WRITTEN_DEPTH_MAX = 128;

/** Containers inside each other that are still read (QUA-2). Deeper: the text counts as damaged. */
export const READ_DEPTH_MAX = 900;

/** Writes waiting in one store, started or not (WRT-3). One more: refused as `overflow` and counted. */
export const PENDING_WRITES_MAX = 8192;

/** Reads, and likewise lease operations, waiting in one store. One more: refused as `overflow`. */
export const PENDING_READS_MAX = 8192;

/** How long an operation's caller waits when it names no deadline of its own (WRT-2, LSE-5). Longer: `unknown`. */
export const OPERATION_DEADLINE_MS = 10_000;

/** Attempts to change one document that others keep changing. More: `failed`, reason `contended`. */
export const DOCUMENT_ATTEMPTS_MAX = 1000;

/** Bytes of record text the main thread decodes in one turn. More: it lets others run in between. */
export const DECODE_SLICE_CHARS = 256 * 1024;

/** Records one listing may return. */
export const LIST_LIMIT_MAX = 100_000;

/** How long one step of garbage collection may take. */
export const UPKEEP_DEADLINE_MS = 600_000;

/** Documents whose last body of this process is remembered. Large ones are a few hundred KiB. */
export const REMEMBERED_DOCUMENTS_MAX = 16;

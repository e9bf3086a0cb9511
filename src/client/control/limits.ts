/** Longest wait for a whole answer. A backfill creates up to a hundred runs in one. */
export const ANSWER_PATIENCE_MS = 60_000;

/** Bytes of one answer; a run of a thousand instances has about one million. More: the answer is given up. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

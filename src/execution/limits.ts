/** Every bound of this room, and what happens there. */

/** Live log of a run: the oldest lines are dropped. */
export const RECENT_LINES_MAX = 1000;

/** Text of a live log, and of what waits for one subscriber: the oldest reads are dropped. */
export const LIVE_BYTES_MAX = 4 * 1024 * 1024;

/** Each half of a stream's retained text, should its lines be long: further lines count as discarded. */
export const RETAINED_BYTES_MAX = 8 * 1024 * 1024;

/** Lines that wait for one subscriber of a live log within a turn of the loop: the oldest are dropped. */
export const SUBSCRIBER_LINES_MAX = 8192;

/** What waits to be mirrored to the daemon's own output: the oldest batch is shed, and counted. */
export const MIRROR_BATCHES_MAX = 512;
export const MIRROR_BYTES_MAX = 8 * 1024 * 1024;

/** A batch takes further lines up to here, so that many short outputs do not use up the batches. */
export const MIRROR_BATCH_BYTES = 16 * 1024;

/** At exit, for what still waits to be mirrored. */
export const MIRROR_DRAIN_MS = 1_000;

/** Reading output in one turn of the event loop: then the streams wait on their pipes until the next. */
export const READ_TURN_MS = 5;

/** Streams that resume in one turn when reading has had to wait. */
export const RESUMED_STREAMS_MAX = 16;

/** Starting processes in one turn of the event loop: then the rest waits for the next. */
export const START_TURN_MS = 5;

/** For the end of a run's output, once the run was ended by force: then the pipes are closed, and what was captured is kept. */
export const DRAIN_MS = 30_000;

/** Of each stream of a `verify` command: the newest are kept, and the record says that it was cut. */
export const VERIFY_LINES_MAX = 64;
export const VERIFY_CHARACTERS_MAX = 16384;

/** Of a command in a log line: the rest is left out, with a mark. */
export const LOGGED_COMMAND_CHARACTERS_MAX = 500;

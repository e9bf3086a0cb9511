/** Every bound of this room, and what happens there. */

/** A request's body: a larger one is answered as no JSON. */
export const BODY_BYTES_MAX = 1024 * 1024;

/** The request line, and each header field: a longer one is refused before anything else. */
export const HEADER_BYTES_MAX = 8190;

/** All of a request's headers: more are refused by the server. A browser sends the cookies of every program on a host along. */
export const HEADERS_BYTES_MAX = 32 * 1024;

/** For a request's headers, and for the whole request, to arrive: then the connection is closed. */
export const HEADERS_TIMEOUT_MS = 20_000;
export const REQUEST_TIMEOUT_MS = 60_000;

/** How often the two above are looked after. */
export const TIMEOUTS_CHECK_MS = 5_000;

/** An idle connection is kept this long: longer than clients take between two looks. */
export const KEEP_ALIVE_MS = 75_000;

/** Connections of one listener: further ones are dropped. */
export const CONNECTIONS_MAX = 8192;

/** An answer that many may share is built anew when it is older. */
export const PRODUCT_FRESH_MS = 1_000;

/** Building an answer in one turn of the event loop: then others get theirs. */
export const BUILD_SLICE_MS = 8;

/** Shorter bodies are not worth compressing. */
export const GZIP_BYTES_MIN = 1024;

/** Silence on a stream, after which a comment keeps it alive. */
export const PING_MS = 15_000;

/** What waits for a reader that does not read: the oldest lines are dropped. */
export const TAIL_LINES_MAX = 1_000;
export const TAIL_BYTES_MAX = 1024 * 1024;

/** A reader that takes nothing for so long is let go of. */
export const TAIL_STALLED_MS = 300_000;

/** Answers under way when a listener closes: then their connections are cut. */
export const CLOSE_PATIENCE_MS = 1_000;

/** A header shown in the access log: the rest is cut. */
export const LOGGED_HEADER_CHARACTERS_MAX = 500;

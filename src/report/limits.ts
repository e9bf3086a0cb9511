/** The bounds of the report room, and what happens at each. */

/** Characters of each captured stream a report may carry; longer text keeps its start and its end around a marker. */
export const OUTPUT_CHARS_MAX = 250_000;

/**
 * Characters one rendered template, or any text inside it, may have: room for both streams at their maximum with every character escaped
 * to six. Beyond: that reporter fails with a template error.
 */
export const RENDERED_CHARS_MAX = 4_000_000;

/**
 * Steps one rendering may take: one for each node it evaluates and some for the texts and lists it handles, by length (`Budget`). Worth some
 * 20 ms of the event loop. Beyond: a template error.
 */
export const RENDER_STEPS_MAX = 100_000;

/** Length of a `range(…)`. Beyond: a template error. */
export const RANGE_MAX = 100_000;

/** How deep blocks, brackets and macro calls of a template may nest. Beyond: a template error. */
export const TEMPLATE_DEPTH_MAX = 60;

/** Parsed templates kept, by source text; the least recently used goes first. */
export const TEMPLATE_CACHE_MAX = 500;

/** Time one slice of starting reports may take of a turn of the event loop; the rest waits for the next turn. */
export const SLICE_MS = 5;

/** A whole conversation with a mail server, from resolving the secret to the answer (running 12.1). Beyond: given up, logged. */
export const MAIL_LIMIT_MS = 60_000;

/** Conversations with one mail server at once; more wait, and their limit runs meanwhile. Servers refuse clients that open too many. */
export const MAILS_AT_ONCE_MAX = 20;

/** Mails waiting for one mail server. Beyond: the report fails, logged. */
export const MAILS_WAITING_MAX = 2_000;

/** Time a mail server that has accepted a mail may take to answer QUIT. Beyond: the socket is closed without it. */
export const QUIT_LIMIT_MS = 2_000;

/** A secret file larger than this is refused. */
export const SECRET_BYTES_MAX = 65_536;

/** A webhook request and a delivery to the push relay, where the configuration does not say (running 12.4, 12.5). */
export const WEBHOOK_LIMIT_MS = 10_000;

/** Of an answer that is an error this much is read; the rest is not waited for. */
export const ANSWER_BYTES_MAX = 65_536;

/** Characters of such an answer that are logged. */
export const WEBHOOK_ANSWER_CHARS_MAX = 1_024;
export const RELAY_ANSWER_CHARS_MAX = 512;

/** An idle connection to a receiver is kept this long (running 12.4), at most this many for each host; more are closed. */
export const IDLE_CONNECTION_MS = 90_000;
export const IDLE_CONNECTIONS_MAX = 16;

/** Characters of each text a shell reporter gets in its environment (running 12.3); longer ones are cut. */
export const SHELL_TEXT_CHARS_MAX = 16_384;

/** A shell reporter, where the configuration does not say (running 12.3). Beyond: its process group is killed. */
export const SHELL_LIMIT_MS = 60_000;

/** Time a killed shell reporter may take to be gone (running 12.3). Beyond: it is left to the system. */
export const SHELL_REAP_LIMIT_MS = 10_000;

/** Shell reporters alive at once; more wait, up to the second number. Beyond: the report fails, logged. */
export const SHELLS_AT_ONCE_MAX = 100;
export const SHELLS_WAITING_MAX = 1_000;

/** One Sentry event, to the server's answer. Beyond: given up, logged. */
export const SENTRY_LIMIT_MS = 20_000;

/** Characters of each text of a Sentry event, where the configuration does not say (running 12.2). */
export const SENTRY_TEXT_CHARS = 8_192;

/** The longest pause a Sentry server is granted, and how many projects' pauses are remembered; beyond, all are forgotten. */
export const SENTRY_PAUSE_MAX_MS = 3_600_000;
export const SENTRY_PAUSES_MAX = 1_000;

/** Bytes of a push message before sealing: base64 of the sealed box then has at most 3,000 characters (running 12.5). */
export const PUSH_PLAINTEXT_BYTES_MAX = 2_202;

/** Lines of output a push message carries at most. */
export const PUSH_TAIL_LINES_MAX = 40;

/** Texts of a push message are not halved below this. */
export const PUSH_TEXT_CHARS_MIN = 64;

/** Paired devices. Beyond: pairing is refused. */
export const DEVICES_MAX = 1_000;

/** The registry's file is refused when it is larger. */
export const DEVICE_FILE_BYTES_MAX = 4_194_304;

/** How long deliveries trust what the registry answered, and how soon they ask again when it did not (running 12.5). */
export const DEVICES_FRESH_MS = 60_000;
export const DEVICES_RETRY_MS = 5_000;

/** One operation on the registry's store. Beyond: it counts as failed. */
export const REGISTRY_LIMIT_MS = 10_000;

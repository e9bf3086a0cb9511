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

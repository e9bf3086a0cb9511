/** Different warnings of the simulated daemon that are kept; of more, the later ones are dropped. */
export const LOG_LINES_MAX = 20;

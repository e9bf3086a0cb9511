/** Field texts repeat heavily across a fleet; this many parsed ones are shared. Above it the oldest is parsed anew when met again. */
export const internedFieldsMax = 4096;

/** A field text longer than this is parsed each time, so that the shared ones stay small. */
export const internedTextCharactersMax = 256;

/** Chunks of about a year kept per zone: all of 1970 to 2100 and some. Above it the oldest is looked up anew. */
export const cachedChunksMax = 160;

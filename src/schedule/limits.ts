/** Field texts repeat heavily across a fleet; this many parsed ones are shared. Above it the oldest is parsed anew when met again. */
export const internedFieldsMax = 4096;

/** A field text longer than this is parsed each time, so that the shared ones stay small. */
export const internedTextCharactersMax = 256;

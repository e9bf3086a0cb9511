/** Field texts repeat heavily across a fleet; this many parsed ones are shared. Above it the oldest is parsed anew when met again. */
export const internedFieldsMax = 4096;

/** A field text longer than this is parsed each time, so that the shared ones stay small. */
export const internedTextCharactersMax = 256;

/** Chunks of about a year kept per zone: all of 1970 to 2100 and some. Above it the oldest is looked up anew. */
export const cachedChunksMax = 160;

/** A slot that is later than this is no ordinary lateness: the interval is not replayed. */
export const inlineReplayMs = 10_000;

/** A count that a query may ask for: what it is when not given, and what larger or smaller ones become. */
export interface CountBounds {
  readonly otherwise: number;
  readonly min: number;
  readonly max: number;
}

export const previewFires: CountBounds = { otherwise: 12, min: 1, max: 60 };
export const pressureHours: CountBounds = { otherwise: 24, min: 1, max: 168 };
export const calendarDays: CountBounds = { otherwise: 14, min: 1, max: 60 };
export const calendarEventsPerEntry: CountBounds = { otherwise: 100, min: 1, max: 1000 };

/** The busiest cells that pressure names, and the jobs it names in each. */
export const pressureTopCells = 6;
export const pressureNamesPerCell = 10;

/**
 * What sliced work does between two chances to stop: some milliseconds of it. A search that finds nothing goes through all
 * years, and a description reads its expression again, so there are fewer of those.
 */
export const firesPerSlice = 2000;
export const entriesPerSlice = 2000;
export const searchesPerSlice = 50;
export const descriptionsPerSlice = 200;

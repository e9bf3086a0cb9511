import { labelOf } from "./civil.ts";
import { cachedChunksMax } from "./limits.ts";

/** A stretch of time with one offset from UTC. All are seconds; instants since 1970, offsets east of UTC. */
export interface Stretch {
  /** First instant of the stretch: a change of offset, or merely as far back as was looked. */
  readonly start: number;
  /** First instant after it, likewise. */
  readonly end: number;
  readonly offset: number;
  /** The offset in force before `start`; the same as `offset` where nothing changed. */
  readonly offsetBefore: number;
}

/** Labels are never further from UTC than this, nor do clocks jump further, date line changes included. */
export const widestShiftSeconds = 26 * 3600;

/** What is known of a zone's offsets lies in chunks of about a year, each looked up once. */
const chunkSeconds = 2 ** 25;

/** Each chunk knows the changes just before it too, so that a jump is seen whole from the chunk after it. */
const lookBackSeconds = 2 * 86_400;

/** No zone keeps an offset for less (Freetown in 1939 comes closest, with four days). */
const probeSeconds = 3 * 86_400;

/** Before the first zones were made and after the last year that can be written, offsets are taken as they are at that end. */
const earliest = labelOf(1800, 1, 1);
const latest = labelOf(10_000, 1, 3);

/** Answers which stretch of constant offset an instant lies in, from the platform's time zone database. */
export type Offsets = (instant: number) => Stretch;

/** @throws RangeError when the platform's database lacks the zone */
export function offsetsOf(zoneName: string): Offsets {
  const offsetAt = offsetProbe(zoneName);
  const chunks = new Map<number, readonly Stretch[]>();
  let index = Number.NaN;
  let stretches: readonly Stretch[] = [];
  return (instant) => {
    const within = Math.min(Math.max(instant, earliest), latest);
    const wanted = Math.floor(within / chunkSeconds);
    if (wanted !== index) {
      stretches = chunks.get(wanted) ?? remember(chunks, wanted, readChunk(offsetAt, wanted));
      index = wanted;
    }
    for (const stretch of stretches) if (within < stretch.end) return stretch;
    throw new RangeError(`no offset of ${zoneName} at ${instant}`);
  };
}

function remember<T>(chunks: Map<number, T>, index: number, chunk: T): T {
  if (chunks.size >= cachedChunksMax) chunks.delete(chunks.keys().next().value ?? index);
  chunks.set(index, chunk);
  return chunk;
}

/** The stretches that overlap the chunk or the days just before it, in order; the last one ends with the chunk. */
function readChunk(offsetAt: (instant: number) => number, index: number): Stretch[] {
  const end = (index + 1) * chunkSeconds;
  const stretches: Stretch[] = [];
  let start = index * chunkSeconds - lookBackSeconds;
  let offset = offsetAt(start);
  let offsetBefore = offset;
  for (let known = start; known < end; ) {
    const probe = Math.min(known + probeSeconds, end);
    const next = offsetAt(probe);
    if (next !== offset) {
      const change = firstWithout(offsetAt, offset, known, probe);
      stretches.push({ start, end: change, offset, offsetBefore });
      start = change;
      offsetBefore = offset;
      offset = next;
    }
    known = probe;
  }
  if (start < end) stretches.push({ start, end, offset, offsetBefore });
  return stretches;
}

/** First instant in (from, to] whose offset is not `offset`; `from` has it and `to` has not. */
function firstWithout(offsetAt: (instant: number) => number, offset: number, from: number, to: number): number {
  let last = from;
  let first = to;
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2);
    if (offsetAt(middle) === offset) last = middle;
    else first = middle;
  }
  return first;
}

/** Reads the wall clock of a zone as the platform shows it, and takes the instant off it. */
function offsetProbe(zoneName: string): (instant: number) => number {
  const clock = new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
    timeZone: zoneName,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (instant) => {
    const shown = clock.format(instant * 1000).match(/\d+/g);
    const [month = 0, day = 0, year = 0, hours = 0, minutes = 0, seconds = 0] = shown?.map(Number) ?? [];
    return labelOf(year, month, day, hours * 3600 + minutes * 60 + seconds) - instant;
  };
}

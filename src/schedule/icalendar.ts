import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { describe } from "./describe.ts";
import { nextFire } from "./fires.ts";
import type { FleetEntry } from "./fleet.ts";

/** A fleet entry with what its runs tell of how long it takes. */
export interface CalendarEntry extends FleetEntry {
  /** Mean over the runs that have a duration, in seconds; null when there is none. */
  readonly meanSeconds: number | null;
}

/** What is asked (section 16). A job without a timetable gives no entries, and a calendar without events. */
export interface CalendarQuery {
  /** Of the fleet, or of one job. */
  readonly entries: readonly CalendarEntry[];
  /** The job whose calendar it is; null for the fleet's. */
  readonly job: string | null;
  /** Version of the program. */
  readonly version: string;
  readonly nowMs: number;
  /** Where the window of events begins, when that is not now. */
  readonly startMs?: number;
  readonly days: number;
  readonly eventsPerEntryMax: number;
}

/**
 * The calendar, as text to be sent in pieces: the head, one piece per entry (empty when it has no events), the end. Entries
 * come sorted by name, and none has more than `eventsPerEntryMax` events, so that a piece takes some milliseconds.
 */
export function* calendar(query: CalendarQuery): Generator<string, void, undefined> {
  yield calendarHead(query);
  const sorted = [...query.entries].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (const entry of sorted) yield calendarEvents(query, entry);
  yield lines(["END:VCALENDAR"]);
}

function calendarHead({ job, version }: CalendarQuery): string {
  return lines([
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    `PRODID:-//cronstable//${version}//EN`,
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    `X-WR-CALNAME:${escaped(job === null ? "cronstable" : `cronstable: ${job}`)}`,
    "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    "X-PUBLISHED-TTL:PT1H",
  ]);
}

function calendarEvents(query: CalendarQuery, entry: CalendarEntry): string {
  const { nowMs, days, eventsPerEntryMax } = query;
  const { name, schedule, zone, meanSeconds } = entry;
  const startMs = query.startMs ?? nowMs;
  const endMs = startMs + days * 86_400_000;
  const id = bytesToHex(sha256(utf8ToBytes(name))).slice(0, 12);
  const stamp = lines([`DTSTAMP:${basicUtc(nowMs)}`]);
  const body = lines([
    `DURATION:${blockLength(meanSeconds)}`,
    `SUMMARY:${escaped(name)}`,
    `DESCRIPTION:${escaped(descriptionOf(entry))}`,
    "STATUS:CONFIRMED",
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ]);
  let text = "";
  let count = 0;
  let fire = nextFire(schedule, zone, startMs);
  for (; fire !== null && fire < endMs && count < eventsPerEntryMax; fire = nextFire(schedule, zone, fire)) {
    const start = basicUtc(fire);
    text += `BEGIN:VEVENT\r\nUID:${id}-${start}@cronstable\r\n${stamp}DTSTART:${start}\r\n${body}`;
    count += 1;
  }
  const isCut = fire !== null && fire < endMs;
  return isCut ? text + lines([`X-CRONSTABLE-TRUNCATED;CAP=${eventsPerEntryMax}:${escaped(name)}`]) : text;
}

function descriptionOf({ schedule, zone, meanSeconds }: CalendarEntry): string {
  const runtime = meanSeconds === null || meanSeconds <= 0 ? [] : [`Typical runtime: ${runtimeText(meanSeconds)}`];
  return [`Schedule: ${schedule.source}`, describe(schedule), `Timezone: ${zone.label}`, ...runtime].join("\n");
}

function runtimeText(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)}s`;
  return seconds < 3600 ? `${Math.round(seconds / 60)}m` : `${(seconds / 3600).toFixed(1)}h`;
}

/** How long an event is drawn: the mean in whole minutes, rounded up, from 5 minutes to a day. */
function blockLength(meanSeconds: number | null): string {
  const total = Math.min(Math.max(Math.ceil((meanSeconds ?? 0) / 60), 5), 24 * 60);
  const [hours, minutes] = [Math.floor(total / 60), total % 60];
  return `PT${hours === 0 ? "" : `${hours}H`}${minutes === 0 ? "" : `${minutes}M`}`;
}

/** `YYYYMMDDTHHMMSSZ`. */
function basicUtc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}

function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll(";", "\\;")
    .replaceAll(",", "\\,")
    .replace(/\r\n|\r|\n/g, "\\n");
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${folded(text)}\r\n`).join("");
}

const octetsPerLine = 75;

/** Folds a line at 75 octets, never inside a character; a continuation begins with a blank. */
function folded(text: string): string {
  let line = "";
  let octets = 0;
  for (const character of text) {
    const size = octetsOf(character);
    if (octets + size > octetsPerLine) {
      line += "\r\n ";
      octets = 1;
    }
    line += character;
    octets += size;
  }
  return line;
}

/** In UTF-8. */
function octetsOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

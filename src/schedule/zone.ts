import { dateText, padded, timeText } from "./civil.ts";
import { type Offsets, offsetsOf, widestShiftSeconds } from "./offsets.ts";
import { zoneNames } from "./zone-names.ts";

/** A clock on a wall somewhere. Zones are shared: the same name gives the same object. */
export interface Zone {
  /** How surfaces show it: the name exactly as written, `UTC`, or `local`. Zones with one label are one zone (section 5). */
  readonly label: string;
  /** The IANA name; differs from the label only for the local zone. */
  readonly name: string;
  /** The one stretch that a zone without changes has; null where offsets have to be looked up. */
  readonly offsets: Offsets | null;
}

export const utcZone: Zone = { label: "UTC", name: "UTC", offsets: null };

const zones = new Map<string, Zone>([[utcZone.name, utcZone]]);

/** The zone of that IANA name, links included; null for any other text, and for a zone the platform has no rules of. */
export function zoneNamed(name: string): Zone | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  if (!zoneNames.has(name)) return null;
  const offsets = knownOffsets(name);
  if (offsets === null) return null;
  const zone: Zone = { label: name, name, offsets };
  zones.set(name, zone);
  return zone;
}

/** The host's zone, which is an ordinary zone in all but its label; null when the name is unknown. */
export function localZone(hostName: string): Zone | null {
  const known = localZones.get(hostName);
  if (known !== undefined) return known;
  const zone = zoneNamed(hostName);
  if (zone === null) return null;
  const local: Zone = { ...zone, label: "local" };
  localZones.set(hostName, local);
  return local;
}

const localZones = new Map<string, Zone>();

/** Seconds east of UTC at an instant (seconds since 1970). */
export function offsetAt(zone: Zone, instant: number): number {
  return zone.offsets === null ? 0 : zone.offsets(instant).offset;
}

/** The label that the zone's wall clock shows at an instant (seconds since 1970). */
export function labelAt(zone: Zone, instant: number): number {
  return instant + offsetAt(zone, instant);
}

/** What becomes of a label in a zone (6.1). Instants are seconds since 1970. */
export type Resolved =
  | { readonly kind: "once"; readonly instant: number }
  /** Clocks went back over it. */
  | { readonly kind: "twice"; readonly instant: number; readonly second: number }
  /** Clocks went forward over it; `instant` reckons with the offset before the jump, so it comes late by the jump. */
  | { readonly kind: "skipped"; readonly instant: number };

export function resolve(zone: Zone, label: number): Resolved {
  const before = offsetAt(zone, label - widestShiftSeconds);
  const after = offsetAt(zone, label + widestShiftSeconds);
  const first = label - before;
  if (before === after) return { kind: "once", instant: first };
  const shownFirst = offsetAt(zone, first) === before;
  const shownSecond = offsetAt(zone, label - after) === after;
  if (shownFirst && shownSecond) return { kind: "twice", instant: first, second: label - after };
  if (shownSecond) return { kind: "once", instant: label - after };
  return { kind: shownFirst ? "once" : "skipped", instant: first };
}

/** ISO 8601 with the zone's offset (never `Z`); a fraction of a second only where there is one. `ms` is since 1970. */
export function isoInZone(zone: Zone, ms: number): string {
  const instant = Math.floor(ms / 1000);
  const millisecond = Math.floor(ms - instant * 1000);
  const fraction = millisecond === 0 ? "" : `.${padded(millisecond, 3)}`;
  const offset = offsetAt(zone, instant);
  return isoText(instant + offset, offset, fraction);
}

/** ISO 8601 of a label with an offset of the caller's choice. */
export function isoText(label: number, offset: number, fraction = ""): string {
  return `${dateText(label)}T${timeText(label)}${fraction}${offsetText(offset)}`;
}

function offsetText(offset: number): string {
  const size = Math.abs(offset);
  const seconds = size % 60 === 0 ? "" : `:${padded(size % 60)}`;
  return `${offset < 0 ? "-" : "+"}${padded(Math.floor(size / 3600))}:${padded(Math.floor(size / 60) % 60)}${seconds}`;
}

function knownOffsets(name: string): Offsets | null {
  try {
    return offsetsOf(name);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

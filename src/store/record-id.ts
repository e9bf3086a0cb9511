/**
 * Identity and place of a record in its stream: `<epoch>-<inst>-<seq>` (state 4.3). The order of a stream is the order of
 * these texts, byte by byte.
 */
const CANONICAL = /^\d{13}\.\d{6}-[0-9a-f]{12}-\d{12}$/;

/** @param writer the backend instance, 12 hex digits */
export function recordId(wallMicros: number, writer: string, sequence: number): string {
  const digits = String(Math.max(0, Math.floor(wallMicros))).padStart(19, "0");
  return withParts(digits, writer, sequence);
}

/**
 * The identity of the next record: the natural one, or when the clock stands behind `floor` one microsecond above it
 * (NAM-2). Decimal arithmetic: a double cannot hold a foreign floor's nineteen digits.
 */
export function nextRecordId(floor: string | null, wallMicros: number, writer: string, sequence: number): string {
  const natural = recordId(wallMicros, writer, sequence);
  if (floor === null || natural > floor) return natural;
  const above = BigInt(floor.slice(0, 13) + floor.slice(14, 20)) + 1n;
  return withParts(above.toString().padStart(19, "0"), writer, sequence);
}

function withParts(digits: string, writer: string, sequence: number): string {
  return `${digits.slice(0, -6)}.${digits.slice(-6)}-${writer}-${String(sequence).padStart(12, "0")}`;
}

/** Whether a store made this identity; others may stand in a stream, are read, and never raise the floor. */
export function isCanonicalId(id: string): boolean {
  return CANONICAL.test(id);
}

/** The greatest canonical identity of an ordered listing. */
export function highestCanonicalId(ids: readonly string[]): string | null {
  return ids.findLast(isCanonicalId) ?? null;
}

/** When the record was written, epoch seconds. Infinity, as new as can be, where the identity does not tell (NAM-4). */
export function writtenAtSeconds(id: string): number {
  const dash = id.indexOf("-");
  const text = dash < 0 ? id : id.slice(0, dash);
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

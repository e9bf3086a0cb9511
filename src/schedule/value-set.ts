/**
 * A set of whole numbers 0 to 63: bit v of the two 32-bit words says whether v is in. Small enough to hold a
 * hundred thousand of, and asking for the next member costs a few instructions.
 */
export interface ValueSet {
  readonly low: number;
  readonly high: number;
}

/** The set of the given numbers, each 0 to 63. */
export function setOf(values: Iterable<number>): ValueSet {
  let low = 0;
  let high = 0;
  for (const value of values) {
    if (value < 32) low |= 1 << value;
    else high |= 1 << (value - 32);
  }
  return { low, high };
}

/** Members in increasing order. */
export function members(set: ValueSet): number[] {
  const list: number[] = [];
  for (let value = atOrAfter(set, 0); value >= 0; value = atOrAfter(set, value + 1)) list.push(value);
  return list;
}

export function has(set: ValueSet, value: number): boolean {
  return (value < 32 ? set.low & (1 << value) : set.high & (1 << (value - 32))) !== 0;
}

/** Smallest member not below `value` (0 to 64), or -1. */
export function atOrAfter(set: ValueSet, value: number): number {
  if (value < 32) {
    const bits = set.low & (-1 << value);
    if (bits !== 0) return lowestBit(bits);
  }
  if (value > 63) return -1;
  const bits = value > 32 ? set.high & (-1 << (value - 32)) : set.high;
  return bits === 0 ? -1 : 32 + lowestBit(bits);
}

/** Largest member not above `value` (-1 to 63), or -1. */
export function atOrBefore(set: ValueSet, value: number): number {
  if (value >= 32) {
    const bits = set.high & (-1 >>> (63 - value));
    if (bits !== 0) return 63 - Math.clz32(bits);
  }
  if (value < 0) return -1;
  const bits = value < 31 ? set.low & (-1 >>> (31 - value)) : set.low;
  return bits === 0 ? -1 : 31 - Math.clz32(bits);
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

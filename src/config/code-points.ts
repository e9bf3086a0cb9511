/** Orders texts by Unicode code point, as UTF-8 bytes would; JavaScript's own order differs beyond U+FFFF. */
export function byCodePoint(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    const leftIsAstral = isSurrogate(left);
    return leftIsAstral === isSurrogate(right) ? left - right : leftIsAstral ? 1 : -1;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

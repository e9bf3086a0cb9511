const INSTANT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)?$/;

/**
 * Epoch seconds of an instant as records hold it, to the microsecond; null when the text is none (FMT-6). Without an offset it is
 * UTC.
 */
export function instantSeconds(text: string): number | null {
  const [, date, time, fraction, offset] = INSTANT.exec(text) ?? [];
  if (date === undefined || time === undefined) return null;
  const zone = offset === undefined ? "Z" : offset.replace(/^([+-]\d\d)(\d\d)$/, "$1:$2");
  const wholeMs = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(wholeMs) ? null : wholeMs / 1000 + Number(`0.${(fraction ?? "0").slice(0, 6)}`);
}

/** An expression the dialect does not have. The message is for the user and names the offending field and item. */
export class ScheduleError extends Error {
  override readonly name = "ScheduleError";
}

/**
 * An item as messages show it: in single quotes, or in double ones when it holds a single quote and no double one;
 * backslashes and what does not print are escaped.
 */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll("\\", "\\\\")
    .replaceAll(quote, quote === "'" ? "\\'" : quote)
    .replace(/[\p{C}\p{Z}]/gu, (character) => (character === " " ? character : escapeOf(character)));
  return quote + escaped + quote;
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function escapeOf(character: string): string {
  const short = shortEscapes.get(character);
  if (short !== undefined) return short;
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

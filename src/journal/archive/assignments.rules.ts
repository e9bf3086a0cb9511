/** Words that make a key secret-bearing when it ends in one of them, whatever stands before (ARC-4 kind 1). */
const KEY =
  /(?:password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key|secret[-_]?key|auth[-_]?token|credential|private[-_]?key|rediscli[-_]?auth)s?["']?[ \t]*[=:][ \t]*/gi;

/** A value that ends where a list or an object goes on. */
const ELEMENT = /[^\s,}\]]+(?=[ \t]*[,}\]])/y;

/**
 * Replaces the values of secret-bearing assignments: a quoted value to its closing quote, an element of a list or object by itself,
 * anything else to the end of the line, because it may hold spaces.
 */
export function redactAssignments(line: string, replacement: string): string {
  let out = "";
  let done = 0;
  KEY.lastIndex = 0;
  for (let key = KEY.exec(line); key !== null; key = KEY.exec(line)) {
    const start = KEY.lastIndex;
    if (start >= line.length) break;
    const end = valueEnd(line, start);
    out += line.slice(done, start) + replacement;
    done = end;
    KEY.lastIndex = end;
  }
  return out + line.slice(done);
}

function valueEnd(line: string, start: number): number {
  const quoted = quotedEnd(line, start);
  if (quoted !== null) return quoted;
  ELEMENT.lastIndex = start;
  return ELEMENT.test(line) ? ELEMENT.lastIndex : line.length;
}

/** Behind the closing quote of the text that begins at `start`; null when none does, or it never closes. */
function quotedEnd(line: string, start: number): number | null {
  const quote = line[start];
  if (quote !== '"' && quote !== "'") return null;
  for (let at = start + 1; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === quote) return at + 1;
  }
  return null;
}

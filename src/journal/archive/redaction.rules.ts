import { redactAssignments } from "./assignments.rules.ts";

/** What stands where a secret was (ARC-4). */
export const REDACTED = "***REDACTED***";

export interface OutputText {
  readonly stream: "stdout" | "stderr";
  /** One line, without its newline. */
  readonly line: string;
}

/**
 * The lines with recognisable secrets replaced (ARC-4): best effort, no guarantee. Linear in the text, whatever the text.
 *
 * Private keys span lines: everything from the header to the footer goes, per stream. A batch whose first marker is a footer begins
 * inside a key, and one without a footer ends inside it.
 */
export function redactLines(lines: readonly OutputText[]): OutputText[] {
  const inKey = { stdout: beginsInKey(lines, "stdout"), stderr: beginsInKey(lines, "stderr") };
  return lines.map(({ stream, line }) => {
    const inside = inKey[stream];
    inKey[stream] = inside ? !KEY_END.test(line) : opensKey(line);
    return { stream, line: inside ? REDACTED : redactLine(line) };
  });
}

/** One line that is no part of a private key's body. */
export function redactLine(line: string): string {
  let text = redactAssignments(line, REDACTED);
  for (const { hints, find, replace } of kinds) {
    if (hints.some((hint) => text.includes(hint))) text = text.replace(find, replace);
  }
  return text;
}

const KEY_MARK = "PRIVATE KEY-----";
const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;
const KEY_END = /-----END [A-Z0-9 ]*PRIVATE KEY-----/;

function beginsInKey(lines: readonly OutputText[], stream: OutputText["stream"]): boolean {
  for (const { line } of lines.filter((candidate) => candidate.stream === stream)) {
    if (!line.includes(KEY_MARK)) continue;
    const begin = line.search(KEY_BEGIN);
    const end = line.search(KEY_END);
    if (end >= 0 && (begin < 0 || end < begin)) return true;
    if (begin >= 0) return false;
  }
  return false;
}

/** A key whose footer is on the header's own line, as in a JSON text, is over with the line. */
function opensKey(line: string): boolean {
  const begin = line.includes(KEY_MARK) ? line.search(KEY_BEGIN) : -1;
  return begin >= 0 && !KEY_END.test(line.slice(begin));
}

/**
 * Kinds 2 to 12, in order. Each pattern either begins where its text cannot continue an earlier candidate or stops at a character no
 * later candidate needs, so that failed attempts do not add up. A text without any of the hints, which are quick to look for, has no
 * match.
 */
const kinds: readonly { readonly hints: readonly string[]; readonly find: RegExp; readonly replace: string }[] = [
  {
    hints: ["://"],
    find: /(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,31}:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
    replace: `$1${REDACTED}`,
  },
  { hints: eitherCase("bearer"), find: /\b(bearer[ \t]+)[A-Za-z0-9._~+/-]{8,}=*/gi, replace: `$1${REDACTED}` },
  {
    hints: eitherCase("authorization"),
    find: /(authorization["']?(?:[ \t]*:[ \t]*|[ \t]+)["']?basic[ \t]+)[A-Za-z0-9._~+/=-]{8,}/gi,
    replace: `$1${REDACTED}`,
  },
  { hints: ["AKIA"], find: /(?<![A-Za-z0-9])AKIA[0-9A-Z]{16}/g, replace: REDACTED },
  { hints: ["xox"], find: /(?<![A-Za-z0-9])xox[baprs]-[A-Za-z0-9-]{8,}/g, replace: REDACTED },
  { hints: ["gh"], find: /(?<![A-Za-z0-9])gh[posur]_[A-Za-z0-9]{20,}/g, replace: REDACTED },
  { hints: ["github_pat_"], find: /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,}/g, replace: REDACTED },
  { hints: ["sk-"], find: /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g, replace: REDACTED },
  { hints: ["k_live_", "k_test_"], find: /(?<![A-Za-z0-9])[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/g, replace: REDACTED },
  {
    hints: ["eyJ"],
    find: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}/g,
    replace: REDACTED,
  },
  { hints: ["PRIVATE KEY"], find: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*/s, replace: REDACTED },
];

/** Beginnings of a word whose first two letters come in either case; the rest is for the pattern to look at. */
function eitherCase(word: string): string[] {
  const [first = "", second = ""] = word;
  return [first, first.toUpperCase()].flatMap((a) => [second, second.toUpperCase()].map((b) => a + b));
}

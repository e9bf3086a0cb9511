/** One mailbox of `mail.to` or `mail.from`: the name shown in the header, empty without one, and the address of the envelope. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** The mailboxes of a header value, and the pieces that are none. */
export interface Mailboxes {
  readonly mailboxes: readonly Mailbox[];
  readonly unusable: readonly string[];
}

/** A local name or `local@domain`, with nothing in it that would end an SMTP command or a header. */
const ADDRESS = /^[^\s<>()[\],;:@"]+(?:@(?:[^\s<>()[\],;:@"]+|\[[0-9A-Za-z.:]+\]))?$/;

/**
 * Takes a comma-separated list of addresses apart: `ops@example.com, "Night, shift" <night@example.com>`. A line break separates like a
 * comma and reaches no header, so a value cannot smuggle one in (running 12.1).
 */
export function mailboxes(value: string): Mailboxes {
  const found: Mailbox[] = [];
  const unusable: string[] = [];
  for (const piece of pieces(value)) {
    const angle = /<([^<>]*)>$/.exec(piece);
    const address = (angle?.[1] ?? piece).trim();
    const name = angle === null ? "" : piece.slice(0, angle.index).trim();
    if (ADDRESS.test(address)) found.push({ name: unquoted(name), address });
    else unusable.push(piece);
  }
  return { mailboxes: found, unusable };
}

function unquoted(name: string): string {
  return name.startsWith('"') && name.endsWith('"') ? name.slice(1, -1).replace(/\\(.)/g, "$1") : name;
}

/** Split at commas outside quotes and angle brackets, and at every line break. */
function pieces(value: string): string[] {
  const found: string[] = [];
  let piece = "";
  let quoted = false;
  let angled = false;
  for (const char of value) {
    const lineBreak = char === "\n" || char === "\r";
    if (lineBreak || (char === "," && !quoted && !angled)) {
      found.push(piece);
      piece = "";
      quoted = angled = false;
      continue;
    }
    if (char === '"') quoted = !quoted;
    else if (char === "<" && !quoted) angled = true;
    else if (char === ">" && !quoted) angled = false;
    piece += char;
  }
  found.push(piece);
  return found.map((text) => text.replace(/\p{Cc}/gu, " ").trim()).filter((text) => text !== "");
}

/** A header's text on one line: what follows a line break must not become a header (F42). */
export function oneLine(text: string): string {
  return text
    .replace(/\s*[\r\n\v\f\u0085\u2028\u2029]+\s*/g, " ")
    .replace(/\p{Cc}/gu, " ")
    .trim();
}

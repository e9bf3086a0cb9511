/** Parts of a URL this long are taken for secrets even alone: tokens are long, `api` and `v1` are not. */
const SECRET_PART_CHARS_MIN = 8;

const REDACTED = "<redacted>";

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#x27;",
};

/**
 * A receiver's answer as it may be logged (running 12.4): the URL, its path and its path with query are gone in plain, HTML-escaped and
 * JSON-escaped form, and so is every long part of them; only then is the text cut to `charsMax`. It stays one line.
 *
 * @param cut the text stops before the answer does, so its end may hold the start of the URL
 */
export function loggableAnswer(text: string, cut: boolean, url: string, charsMax: number): string {
  const needles = secretForms(url);
  let shown = text;
  for (const needle of needles) shown = shown.replaceAll(needle, REDACTED);
  if (cut) shown = shown.slice(0, Math.max(0, shown.length - (needles[0]?.length ?? 0)));
  return shown.slice(0, charsMax).replace(/\p{Cc}+/gu, " ");
}

/** Longest first, so that no part is replaced inside a longer one. */
function secretForms(url: string): string[] {
  const forms = new Set([url, url.trim()]);
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed !== null) {
    forms.add(parsed.href);
    forms.add(parsed.pathname + parsed.search);
    forms.add(parsed.pathname);
    const parts = [...parsed.pathname.split("/"), ...[...parsed.searchParams].flat(), parsed.username, parsed.password];
    for (const part of parts) if (part.length >= SECRET_PART_CHARS_MIN) forms.add(part);
    const search = parsed.search.slice(1);
    if (search.length >= SECRET_PART_CHARS_MIN) forms.add(search);
  }
  for (const form of [...forms]) {
    const decoded = percentDecoded(form);
    for (const plain of [form, decoded]) {
      forms.add(plain);
      forms.add(plain.replace(/[&<>"']/g, (char) => HTML_ESCAPES[char] ?? char));
      forms.add(plain.replace(/&/g, "&amp;"));
      forms.add(plain.replaceAll("/", "\\/"));
    }
  }
  return [...forms].filter((form) => form.length > 1).sort((a, b) => b.length - a.length);
}

/** The text without percent escapes, or as it is when they are malformed. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

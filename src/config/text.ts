/** Bytes of a configuration file as text. */

/** What a file's text may hold (YAML 1.2's printable characters); a lone surrogate cannot come out of UTF-8. */
const unprintable = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

export type Decoded =
  | { readonly kind: "text"; readonly text: string }
  /** `before`: the readable text up to what is wrong, from which its line follows. */
  | { readonly kind: "damaged"; readonly before: string; readonly problem: string };

/** Reads UTF-8 and drops a byte order mark. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const lenient = new TextDecoder("utf-8").decode(bytes);
    return { kind: "damaged", before: lenient.slice(0, lenient.indexOf("\ufffd")), problem: "not valid UTF-8 text" };
  }
}

/** Refuses control characters too, as YAML does. */
export function decodeYaml(bytes: Uint8Array): Decoded {
  const decoded = decodeUtf8(bytes);
  const at = decoded.kind === "text" ? decoded.text.search(unprintable) : -1;
  if (decoded.kind !== "text" || at === -1) return decoded;
  const code = (decoded.text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return { kind: "damaged", before: decoded.text.slice(0, at), problem: `control character U+${code} is not text` };
}

/** White space as other implementations of this configuration know it, which is what Python's `str.split` takes for it (config 11.2). */

/** Wider than JavaScript's own idea by the separators U+001C-U+001F and U+0085, narrower by the byte order mark. */
export function isBlank(character: string): boolean {
  if (/\s/.test(character)) return character !== "\ufeff";
  return character === "\u0085" || (character >= "\u001c" && character <= "\u001f");
}

/** Runs of white space become one space, none at the ends. */
export function collapsed(text: string): string {
  if (/^[!-~]+(?: [!-~]+)*$/.test(text)) return text;
  let result = "";
  let word = "";
  for (const character of text) {
    if (!isBlank(character)) word += character;
    else if (word !== "") {
      result += `${word} `;
      word = "";
    }
  }
  return word === "" ? result.trimEnd() : result + word;
}

/** Where a buffer's bytes are, for C. */
export type AddressOf = (bytes: Uint8Array) => bigint;

/** A NULL-terminated `char *[]`. C may use `pointers` as long as this object is referenced. */
export interface CStrings {
  readonly pointers: BigUint64Array;
  /** What the pointers point into. */
  readonly storage: readonly object[];
}

/** Strings as UTF-8 for execve(2), in two allocations however many they are. They must hold no NUL: ask `problemOf…` before. */
export function cStrings(strings: readonly string[], addressOf: AddressOf): CStrings {
  const bytes = Buffer.from(`${strings.join("\0")}\0`);
  const pointers = new BigUint64Array(strings.length + 1);
  const start = addressOf(bytes);
  for (let index = 0, offset = 0; index < strings.length; index++) {
    pointers[index] = start + BigInt(offset);
    offset = bytes.indexOf(0, offset) + 1;
  }
  return { pointers, storage: [bytes] };
}

/** Why these cannot be the arguments of a process, null when they can. */
export function problemOfArguments(argv: readonly string[]): string | null {
  for (const [index, argument] of argv.entries()) {
    const problem = uncodable(argument);
    if (problem !== null) return `argument ${index} ${problem}`;
  }
  return null;
}

/** Names the variable that no process can have; its value stays unsaid. Null when all are well. */
export function problemOfVariables(variables: Readonly<Record<string, string>>): string | null {
  for (const [name, value] of Object.entries(variables)) {
    const problem = uncodable(name) ?? uncodable(value);
    if (problem !== null) return `environment variable ${JSON.stringify(name)} ${problem}`;
  }
  return null;
}

function uncodable(text: string): string | null {
  if (text.includes("\0")) return "contains a NUL byte";
  if (/[\ud800-\udfff]/.test(text) && /\p{Surrogate}/u.test(text))
    return "contains half of a surrogate pair, which UTF-8 cannot write";
  return null;
}

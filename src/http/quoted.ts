/** A name inside a message: single quotes, or double ones when it holds a single quote and no double quote (http 3.1). */
export function quoted(name: string): string {
  return name.includes("'") && !name.includes('"') ? `"${name}"` : `'${name}'`;
}

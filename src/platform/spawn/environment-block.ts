import { type AddressOf, type CStrings, cStrings, problemOfVariables } from "./c-strings.ts";
import type { ChildEnvironment } from "./spawner.ts";

interface BaseBlock {
  readonly names: readonly string[];
  readonly strings: CStrings;
}

/**
 * Makes environment blocks for execve(2). The base of an environment is encoded once and kept with the object it was made from, so a
 * thousand starts that share it cost a thousand pointer tables at most.
 */
export function environmentBlocks(
  addressOf: AddressOf,
): (environment: ChildEnvironment) => CStrings | { problem: string } {
  const bases = new WeakMap<object, BaseBlock>();

  function blockOf(base: Readonly<Record<string, string>>): BaseBlock | { problem: string } {
    const kept = bases.get(base);
    if (kept !== undefined) return kept;
    const problem = problemOfVariables(base);
    if (problem !== null) return { problem };
    const block = { names: Object.keys(base), strings: cStrings(entries(base), addressOf) };
    bases.set(base, block);
    return block;
  }

  return ({ base, added }) => {
    const block = blockOf(base);
    if ("problem" in block) return block;
    if (Object.keys(added).length === 0) return block.strings;
    const problem = problemOfVariables(added);
    if (problem !== null) return { problem };
    const own = cStrings(entries(added), addressOf);
    const inherited = block.strings.pointers.filter((_, index) => {
      const name = block.names[index];
      return name !== undefined && !Object.hasOwn(added, name);
    });
    const pointers = new BigUint64Array(inherited.length + own.pointers.length);
    pointers.set(inherited);
    pointers.set(own.pointers, inherited.length);
    return { pointers, storage: [...block.strings.storage, ...own.storage] };
  };
}

const entries = (variables: Readonly<Record<string, string>>): string[] =>
  Object.entries(variables).map(([name, value]) => `${name}=${value}`);

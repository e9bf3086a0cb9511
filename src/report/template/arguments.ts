import { numberOf, TemplateError, typeName, Undefined, type Value } from "./value.ts";

/** Arguments of a filter, test, method or function, evaluated. */
export interface Given {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** Reads arguments by their names; what is asked of them says what they must be. */
export interface Named {
  value(name: string): Value | undefined;
  text(name: string, fallback: string): string;
  integer(name: string, fallback: number): number;
  flag(name: string, fallback: boolean): boolean;
}

/**
 * Gives each argument its parameter name, positional ones in order.
 *
 * @throws TemplateError for one too many or one unknown, naming `who`
 */
export function named(who: string, parameters: readonly string[], given: Given): Named {
  if (given.positional.length > parameters.length)
    throw new TemplateError(`${who} takes at most ${parameters.length} arguments`);
  const values = new Map<string, Value>();
  given.positional.forEach((value, index) => {
    values.set(parameters[index] ?? "", value);
  });
  for (const [name, value] of given.named) {
    if (!parameters.includes(name) || values.has(name))
      throw new TemplateError(`${who} takes no argument "${name}" here`);
    values.set(name, value);
  }
  const known = (name: string): Value | undefined => {
    const value = values.get(name);
    if (value instanceof Undefined) throw new TemplateError(value.complaint);
    return value;
  };
  const wrong = (name: string, wanted: string, value: Value): TemplateError =>
    new TemplateError(`${who}: "${name}" is ${wanted}, not ${typeName(value)}`);
  return {
    value: (name) => values.get(name),
    text(name, fallback) {
      const value = known(name);
      if (value === undefined || value === null) return fallback;
      if (typeof value !== "string") throw wrong(name, "a text", value);
      return value;
    },
    integer(name, fallback) {
      const value = known(name);
      if (value === undefined || value === null) return fallback;
      const number = numberOf(value);
      if (number === null || !Number.isInteger(number)) throw wrong(name, "an integer", value);
      return number;
    },
    flag(name, fallback) {
      const value = known(name);
      return value === undefined ? fallback : value === true || (value !== null && value !== false && value !== 0);
    },
  };
}

/**
 * Values a template can hold: plain data and nothing else, so that no expression has a way to the host. Lists and maps are immutable.
 * They follow Python's rules for text form, truth and comparison, because the templates in people's configurations expect them.
 */
export type Value =
  | null
  | boolean
  | number
  | Float
  | string
  | readonly Value[]
  | ValueMap
  | Undefined
  | Namespace
  | Macro;

export type Key = string | number | boolean | null;
export type ValueMap = ReadonlyMap<Key, Value>;
export type Variables = ReadonlyMap<string, Value>;

/** A number that shows a decimal point even when whole; a plain `number` is an integer. */
export class Float {
  constructor(readonly value: number) {}
}

/** What an unknown name or a missing attribute gives. It renders empty; asking more of it is an error that says `complaint`. */
export class Undefined {
  constructor(readonly complaint: string) {}
}

/** `namespace(…)`: the one mutable value, made for carrying results out of loops. */
export class Namespace {
  constructor(readonly members: Map<string, Value>) {}
}

/** A macro: called by name only, never rendered. `definition` belongs to the evaluator. */
export class Macro {
  constructor(
    readonly name: string,
    readonly definition: object,
  ) {}
}

/** Something the template asks for that cannot be. The message is for the operator; `line` counts in the template, from 1. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  line: number | null = null;
}

/** `value`, unless there is none at all. `??` would take a template's own `None` for absence. */
export function either(value: Value | undefined, otherwise: Value): Value {
  return value === undefined ? otherwise : value;
}

export function isMap(value: Value): value is ValueMap {
  return value instanceof Map;
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** The number a value counts as in arithmetic and comparison, null when it is none. `True` is 1, as in Python. */
export function numberOf(value: Value): number | null {
  if (typeof value === "number") return value;
  if (value instanceof Float) return value.value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return null;
}

export function isTrue(value: Value): boolean {
  if (value === null || value instanceof Undefined) return false;
  if (typeof value === "boolean") return value;
  if (typeof value === "string" || isList(value)) return value.length > 0;
  if (isMap(value)) return value.size > 0;
  const number = numberOf(value);
  return number === null || number !== 0;
}

/** The type's name as messages show it. */
export function typeName(value: Value): string {
  if (value === null) return "None";
  if (value instanceof Undefined) return "undefined";
  if (value instanceof Float) return "float";
  if (value instanceof Namespace) return "namespace";
  if (value instanceof Macro) return "macro";
  if (isList(value)) return "list";
  if (isMap(value)) return "dict";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "number":
      return "int";
    case "string":
      return "str";
  }
}

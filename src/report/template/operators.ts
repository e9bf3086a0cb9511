/** Arithmetic, comparison, members and slices, by Python's rules as far as report templates can tell. */
import { RENDERED_CHARS_MAX } from "../limits.ts";
import type { Budget } from "./budget.ts";
import type { ArithmeticOperator, CompareOperator } from "./syntax.ts";
import {
  Float,
  isList,
  isMap,
  type Key,
  Namespace,
  numberOf,
  TemplateError,
  typeName,
  Undefined,
  type Value,
} from "./value.ts";

/** @throws TemplateError where the operator has no meaning for the two, or an unknown name is among them */
export function arithmetic(operator: ArithmeticOperator, left: Value, right: Value, budget: Budget): Value {
  defined(left);
  defined(right);
  const a = numberOf(left);
  const b = numberOf(right);
  if (a !== null && b !== null) return numeric(operator, a, b, left instanceof Float || right instanceof Float);
  if (operator === "+") {
    if (typeof left === "string" && typeof right === "string") {
      budget.text(left.length + right.length);
      return left + right;
    }
    if (isList(left) && isList(right)) {
      budget.list(left.length + right.length);
      return [...left, ...right];
    }
  }
  if (operator === "*") {
    if (typeof left === "string" && b !== null) return repeated(left, b, budget);
    if (typeof right === "string" && a !== null) return repeated(right, a, budget);
  }
  throw new TemplateError(`${operator} cannot join ${typeName(left)} and ${typeName(right)}`);
}

function numeric(operator: ArithmeticOperator, a: number, b: number, float: boolean): Value {
  if (b === 0 && (operator === "/" || operator === "//" || operator === "%"))
    throw new TemplateError("division by zero");
  const result = (value: number, isFloat: boolean): Value => {
    if (isFloat) return new Float(value);
    if (!Number.isSafeInteger(value)) throw new TemplateError("the number is too large");
    return value;
  };
  switch (operator) {
    case "+":
      return result(a + b, float);
    case "-":
      return result(a - b, float);
    case "*":
      return result(a * b, float);
    case "/":
      return result(a / b, true);
    case "//":
      return result(Math.floor(a / b), float);
    case "%":
      return result(((a % b) + b) % b, float);
    case "**":
      return result(a ** b, float || b < 0);
  }
}

function repeated(text: string, times: number, budget: Budget): string {
  const count = Math.max(0, Math.trunc(times));
  budget.text(Math.min(text.length * count, RENDERED_CHARS_MAX + 1));
  return text.repeat(count);
}

/** @throws TemplateError for an unknown name: nothing can be asked of it */
export function defined<T extends Value>(value: T): Exclude<T, Undefined> {
  if (value instanceof Undefined) throw new TemplateError(value.complaint);
  return value as Exclude<T, Undefined>;
}

export function compare(operator: CompareOperator, left: Value, right: Value, budget: Budget): boolean {
  switch (operator) {
    case "==":
      return equal(left, right, budget);
    case "!=":
      return !equal(left, right, budget);
    case "<":
      return order(left, right, budget) < 0;
    case "<=":
      return order(left, right, budget) <= 0;
    case ">":
      return order(left, right, budget) > 0;
    case ">=":
      return order(left, right, budget) >= 0;
    case "in":
      return contains(right, left, budget);
    case "not in":
      return !contains(right, left, budget);
  }
}

export function equal(left: Value, right: Value, budget: Budget): boolean {
  budget.spend(1);
  const a = numberOf(left);
  const b = numberOf(right);
  if (a !== null && b !== null) return a === b;
  if (left instanceof Undefined) return right instanceof Undefined;
  if (isList(left) && isList(right))
    return left.length === right.length && left.every((item, index) => equal(item, right[index] ?? null, budget));
  if (isMap(left) && isMap(right)) {
    if (left.size !== right.size) return false;
    for (const [key, value] of left) {
      const other = right.get(key);
      if (other === undefined || !equal(value, other, budget)) return false;
    }
    return true;
  }
  return left === right;
}

/** Negative, zero or positive. @throws TemplateError for values without an order between them */
export function order(left: Value, right: Value, budget: Budget): number {
  budget.spend(1);
  defined(left);
  defined(right);
  const a = numberOf(left);
  const b = numberOf(right);
  if (a !== null && b !== null) return a - b;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : left > right ? 1 : 0;
  if (isList(left) && isList(right)) {
    for (const [index, item] of left.entries()) {
      const other = right[index];
      if (other === undefined) return 1;
      const difference = order(item, other, budget);
      if (difference !== 0) return difference;
    }
    return left.length - right.length;
  }
  throw new TemplateError(`${typeName(left)} and ${typeName(right)} have no order`);
}

function contains(container: Value, item: Value, budget: Budget): boolean {
  if (container instanceof Undefined) throw new TemplateError(container.complaint);
  if (typeof container === "string") {
    budget.text(container.length);
    if (typeof item !== "string") throw new TemplateError(`in: a text holds texts, not ${typeName(item)}`);
    return container.includes(item);
  }
  if (isMap(container)) return isKey(item) && container.has(item);
  if (isList(container)) return container.some((other) => equal(other, item, budget));
  throw new TemplateError(`in: ${typeName(container)} holds nothing`);
}

export function isKey(value: Value): value is Key {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** `of.name` and `of[key]`: members of maps, items of lists and texts, and nothing of the host (running 11.1 item 3). */
export function member(of: Value, key: Value, budget: Budget): Value {
  defined(of);
  let found: Value | undefined;
  if (of instanceof Namespace) found = typeof key === "string" ? of.members.get(key) : undefined;
  else if (isMap(of)) found = isKey(key) ? of.get(key) : undefined;
  else if (typeof key === "number" && (isList(of) || typeof of === "string")) {
    const items = typeof of === "string" ? characters(of, budget) : of;
    found = items[key < 0 ? items.length + key : key];
  }
  if (found !== undefined) return found;
  return new Undefined(`${typeName(of)} has no attribute ${isKey(key) ? `'${key}'` : "of that kind"}`);
}

/** A text as its code points; cheap where each is one unit. */
export function characters(text: string, budget: Budget): readonly string[] | string {
  budget.text(text.length);
  return /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
}

export function slice(of: Value, start: number | null, stop: number | null, step: number, budget: Budget): Value {
  if (typeof of !== "string" && !isList(of)) throw new TemplateError(`${typeName(of)} cannot be sliced`);
  if (step === 0) throw new TemplateError("a slice step cannot be zero");
  const items = typeof of === "string" ? characters(of, budget) : of;
  const { length } = items;
  const clamp = (index: number, low: number, high: number): number =>
    Math.min(high, Math.max(low, index < 0 ? index + length : index));
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
  const first = start === null ? (step > 0 ? low : high) : clamp(start, low, high);
  const last = stop === null ? (step > 0 ? high : low) : clamp(stop, low, high);
  if (step === 1 && typeof items === "string") return items.slice(first, Math.max(first, last));
  const taken: Value[] = [];
  for (let index = first; step > 0 ? index < last : index > last; index += step) taken.push(items[index] ?? null);
  budget.list(taken.length);
  return typeof of === "string" ? taken.join("") : taken;
}

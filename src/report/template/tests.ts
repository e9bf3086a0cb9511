import { type Given, named } from "./arguments.ts";
import type { Budget } from "./budget.ts";
import { hasFilter } from "./filters.ts";
import { compare, equal } from "./operators.ts";
import type { CompareOperator } from "./syntax.ts";
import { Float, isList, isMap, numberOf, TemplateError, Undefined, type Value } from "./value.ts";

type Test = (value: Value, given: Given, budget: Budget) => boolean;

const plain =
  (holds: (value: Value) => boolean): Test =>
  (value, given) => {
    named("the test", [], given);
    return holds(value);
  };

const comparing =
  (operator: CompareOperator): Test =>
  (value, given, budget) =>
    compare(operator, value, operand(given), budget);

function operand(given: Given): Value {
  const value = named("the test", ["other"], given).value("other");
  if (value === undefined) throw new TemplateError("the test needs a value to compare with");
  return value;
}

function divides(value: Value, given: Given): boolean {
  const number = numberOf(value);
  const divisor = numberOf(operand(given));
  if (number === null || divisor === null || divisor === 0) throw new TemplateError("divisibleby needs numbers");
  return number % divisor === 0;
}

const isInteger = (value: Value): boolean => typeof value === "number";
const isCased = (value: Value, cased: string): boolean =>
  value === cased && cased.toLowerCase() !== cased.toUpperCase();

const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ["defined", plain((value) => !(value instanceof Undefined))],
  ["undefined", plain((value) => value instanceof Undefined)],
  ["none", plain((value) => value === null)],
  ["true", plain((value) => value === true)],
  ["false", plain((value) => value === false)],
  ["boolean", plain((value) => typeof value === "boolean")],
  ["string", plain((value) => typeof value === "string")],
  ["number", plain((value) => numberOf(value) !== null)],
  ["integer", plain(isInteger)],
  ["float", plain((value) => value instanceof Float)],
  ["mapping", plain(isMap)],
  ["sequence", plain((value) => typeof value === "string" || isList(value) || isMap(value))],
  [
    "iterable",
    plain((value) => typeof value === "string" || isList(value) || isMap(value) || value instanceof Undefined),
  ],
  ["lower", plain((value) => typeof value === "string" && isCased(value, value.toLowerCase()))],
  ["upper", plain((value) => typeof value === "string" && isCased(value, value.toUpperCase()))],
  ["even", plain((value) => (numberOf(value) ?? 1) % 2 === 0)],
  ["odd", plain((value) => Math.abs((numberOf(value) ?? 0) % 2) === 1)],
  ["divisibleby", divides],
  ["sameas", (value, given, budget) => equal(value, operand(given), budget)],
  ["in", comparing("in")],
  ...(["==", "eq", "equalto"] as const).map((name): [string, Test] => [name, comparing("==")]),
  ...(["!=", "ne"] as const).map((name): [string, Test] => [name, comparing("!=")]),
  ...(["<", "lt", "lessthan"] as const).map((name): [string, Test] => [name, comparing("<")]),
  ...(["<=", "le"] as const).map((name): [string, Test] => [name, comparing("<=")]),
  ...([">", "gt", "greaterthan"] as const).map((name): [string, Test] => [name, comparing(">")]),
  ...([">=", "ge"] as const).map((name): [string, Test] => [name, comparing(">=")]),
  ["filter", (value) => typeof value === "string" && hasFilter(value)],
]);

export function hasTest(name: string): boolean {
  return TESTS.has(name);
}

/** @throws TemplateError when the test cannot be made on the value */
export function applyTest(name: string, value: Value, given: Given, budget: Budget): boolean {
  const test = TESTS.get(name);
  if (test === undefined) throw new TemplateError(`there is no test "${name}"`);
  budget.spend(1);
  return test(value, given, budget);
}

/** The filters of the template language, by name. */
import type { Given } from "./arguments.ts";
import type { Budget } from "./budget.ts";
import { listFilters } from "./list-filters.ts";
import { numberFilters } from "./number-filters.ts";
import { textFilters } from "./text-filters.ts";
import { TemplateError, type Value } from "./value.ts";

export interface FilterContext {
  readonly budget: Budget;
  /** Whether a test holds, for the filters that take one by name. */
  test(name: string, value: Value, given: Given): boolean;
  filter(name: string, value: Value, given: Given): Value;
}

export type Filter = (value: Value, given: Given, context: FilterContext) => Value;

const FILTERS: ReadonlyMap<string, Filter> = new Map(
  Object.entries({ ...textFilters, ...numberFilters, ...listFilters }),
);

export function hasFilter(name: string): boolean {
  return FILTERS.has(name);
}

/** @throws TemplateError when the filter cannot work on the value */
export function applyFilter(name: string, value: Value, given: Given, context: FilterContext): Value {
  const filter = FILTERS.get(name);
  if (filter === undefined) throw new TemplateError(`there is no filter "${name}"`);
  context.budget.spend(1);
  return filter(value, given, context);
}

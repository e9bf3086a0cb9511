import { type Given, named } from "./arguments.ts";
import type { Budget } from "./budget.ts";
import type { Filter, FilterContext } from "./filters.ts";
import { arithmetic, characters, defined, equal, member, order } from "./operators.ts";
import { textOf } from "./text-form.ts";
import { either, isList, isMap, isTrue, TemplateError, typeName, Undefined, type Value } from "./value.ts";

/** What a loop or a list filter goes over: items, a map's keys, a text's characters; an unknown name is empty. */
export function itemsOf(value: Value, budget: Budget): readonly Value[] {
  if (value instanceof Undefined) return [];
  if (isList(value)) {
    budget.list(value.length);
    return value;
  }
  if (isMap(value)) {
    budget.list(value.size);
    return [...value.keys()];
  }
  if (typeof value === "string") return [...characters(value, budget)];
  throw new TemplateError(`${typeName(value)} is no list`);
}

const length: Filter = (value, _given, { budget }) => {
  defined(value);
  if (typeof value === "string") return characters(value, budget).length;
  if (isList(value)) return value.length;
  if (isMap(value)) return value.size;
  throw new TemplateError(`${typeName(value)} has no length`);
};

/** `attribute="a.b"`: the path to what counts of each item. */
function picker(attribute: Value | undefined, budget: Budget): (item: Value) => Value {
  if (attribute === undefined || attribute === null) return (item) => item;
  const path = typeof attribute === "string" ? attribute.split(".") : [attribute];
  return (item) => path.reduce<Value>((of, key) => member(of, key, budget), item);
}

const folded = (value: Value): Value => (typeof value === "string" ? value.toLowerCase() : value);

const sort: Filter = (value, given, { budget }) => {
  const { flag, value: argument } = named("sort", ["reverse", "case_sensitive", "attribute"], given);
  const pick = picker(argument("attribute"), budget);
  const keyed = itemsOf(value, budget).map((item) => ({
    item,
    key: flag("case_sensitive", false) ? pick(item) : folded(pick(item)),
  }));
  const direction = flag("reverse", false) ? -1 : 1;
  return keyed.sort((a, b) => direction * order(a.key, b.key, budget)).map(({ item }) => item);
};

const dictSort: Filter = (value, given, { budget }) => {
  const { flag, text } = named("dictsort", ["case_sensitive", "by", "reverse"], given);
  if (!isMap(value)) throw new TemplateError("dictsort needs a dict");
  budget.list(value.size);
  const index = text("by", "key") === "value" ? 1 : 0;
  const key = (pair: readonly Value[]): Value => {
    const part = pair[index] ?? null;
    return flag("case_sensitive", false) ? part : folded(part);
  };
  const direction = flag("reverse", false) ? -1 : 1;
  return [...value].sort((a, b) => direction * order(key(a), key(b), budget));
};

const unique: Filter = (value, given, { budget }) => {
  const { flag, value: argument } = named("unique", ["case_sensitive", "attribute"], given);
  const pick = picker(argument("attribute"), budget);
  const seen: Value[] = [];
  return itemsOf(value, budget).filter((item) => {
    const key = flag("case_sensitive", false) ? pick(item) : folded(pick(item));
    if (seen.some((other) => equal(other, key, budget))) return false;
    seen.push(key);
    return true;
  });
};

const extreme =
  (sign: 1 | -1): Filter =>
  (value, given, { budget }) => {
    const { flag, value: argument } = named("min/max", ["case_sensitive", "attribute"], given);
    const pick = picker(argument("attribute"), budget);
    const key = (item: Value): Value => (flag("case_sensitive", false) ? pick(item) : folded(pick(item)));
    const [first, ...rest] = itemsOf(value, budget);
    if (first === undefined) return new Undefined("there is no item in an empty list");
    return rest.reduce((best, item) => (sign * order(key(item), key(best), budget) > 0 ? item : best), first);
  };

const map: Filter = (value, given, context) => {
  const attribute = given.named.get("attribute");
  const items = itemsOf(value, context.budget);
  if (attribute !== undefined) {
    const { value: argument } = named("map", ["attribute", "default"], given);
    const pick = picker(attribute, context.budget);
    const otherwise = argument("default");
    return items.map((item) => {
      const picked = pick(item);
      return picked instanceof Undefined && otherwise !== undefined ? otherwise : picked;
    });
  }
  const [name, ...positional] = given.positional;
  if (typeof name !== "string") throw new TemplateError("map needs the name of a filter, or attribute=");
  return items.map((item) => context.filter(name, item, { positional, named: given.named }));
};

const chosen =
  (wanted: boolean, by: "item" | "attribute"): Filter =>
  (value, given, context) => {
    const positional = [...given.positional];
    const attribute = by === "attribute" ? positional.shift() : undefined;
    if (by === "attribute" && attribute === undefined)
      throw new TemplateError("selectattr and rejectattr need an attribute");
    const pick = picker(attribute, context.budget);
    const [test, ...rest] = positional;
    const holds = (item: Value): boolean =>
      test === undefined ? isTrue(item) : applyTest(test, item, { positional: rest, named: given.named }, context);
    return itemsOf(value, context.budget).filter((item) => holds(pick(item)) === wanted);
  };

function applyTest(name: Value, item: Value, given: Given, context: FilterContext): boolean {
  if (typeof name !== "string") throw new TemplateError("the name of a test is a text");
  return context.test(name, item, given);
}

const join: Filter = (value, given, { budget }) => {
  const { text, value: argument } = named("join", ["d", "attribute"], given);
  const separator = text("d", "");
  const pick = picker(argument("attribute"), budget);
  const parts = itemsOf(value, budget).map((item) => textOf(pick(item), budget));
  budget.text(parts.reduce((sum, part) => sum + part.length + separator.length, 0));
  return parts.join(separator);
};

export const listFilters: Readonly<Record<string, Filter>> = {
  length,
  count: length,
  join,
  list: (value, _given, { budget }) => itemsOf(value, budget),
  first: (value, _given, { budget }) => either(itemsOf(value, budget)[0], new Undefined("there is no first item")),
  last: (value, _given, { budget }) => either(itemsOf(value, budget).at(-1), new Undefined("there is no last item")),
  reverse(value, _given, { budget }) {
    const backwards = [...itemsOf(value, budget)].reverse();
    return typeof value === "string" ? backwards.join("") : backwards;
  },
  sort,
  dictsort: dictSort,
  items(value) {
    if (value instanceof Undefined) return [];
    if (!isMap(value)) throw new TemplateError("items needs a dict");
    return [...value];
  },
  unique,
  min: extreme(-1),
  max: extreme(1),
  sum(value, given, { budget }) {
    const { value: argument } = named("sum", ["attribute", "start"], given);
    const pick = picker(argument("attribute"), budget);
    return itemsOf(value, budget).reduce<Value>(
      (total, item) => arithmetic("+", total, pick(item), budget),
      argument("start") ?? 0,
    );
  },
  map,
  select: chosen(true, "item"),
  reject: chosen(false, "item"),
  selectattr: chosen(true, "attribute"),
  rejectattr: chosen(false, "attribute"),
};

/** The methods of texts, maps and lists that templates may call. All are ours and pure; nothing of the host can be called. */
import { type Given, named } from "./arguments.ts";
import type { Budget } from "./budget.ts";
import { equal, isKey } from "./operators.ts";
import { textOf } from "./text-form.ts";
import { capitalized, linesOf, replaced, splitText, stripped, titled } from "./text-operations.ts";
import { either, isList, isMap, TemplateError, typeName, Undefined, type Value, type ValueMap } from "./value.ts";

type Method<T> = (of: T, given: Given, budget: Budget) => Value;

const plain =
  <T>(make: (of: T) => Value): Method<T> =>
  (of, given) => {
    named("the method", [], given);
    return make(of);
  };

const strip =
  (where: "both" | "start" | "end"): Method<string> =>
  (of, given) =>
    stripped(of, named("strip", ["chars"], given).text("chars", ""), where);

const affix =
  (name: "startsWith" | "endsWith"): Method<string> =>
  (of, given) => {
    const wanted = named(name.toLowerCase(), ["affix"], given).value("affix") ?? null;
    const options = isList(wanted) ? wanted : [wanted];
    return options.some((option) => typeof option === "string" && of[name](option));
  };

const TEXT_METHODS: ReadonlyMap<string, Method<string>> = new Map<string, Method<string>>([
  ["upper", plain((of) => of.toUpperCase())],
  ["lower", plain((of) => of.toLowerCase())],
  ["capitalize", plain(capitalized)],
  [
    "title",
    (of, given, budget) => {
      named("title", [], given);
      budget.eachCharacter(of.length);
      return titled(of);
    },
  ],
  ["isdigit", plain((of) => /^\d+$/.test(of))],
  ["strip", strip("both")],
  ["lstrip", strip("start")],
  ["rstrip", strip("end")],
  ["startswith", affix("startsWith")],
  ["endswith", affix("endsWith")],
  [
    "split",
    (of, given, budget) => {
      const { value, text, integer } = named("split", ["sep", "maxsplit"], given);
      const separator = (value("sep") ?? null) === null ? null : text("sep", "");
      return splitText(of, separator, integer("maxsplit", -1), budget);
    },
  ],
  [
    "splitlines",
    (of, given, budget) => {
      named("splitlines", [], given);
      return linesOf(of, budget);
    },
  ],
  [
    "replace",
    (of, given, budget) => {
      const { text, integer } = named("replace", ["old", "new", "count"], given);
      return replaced(of, text("old", ""), text("new", ""), integer("count", -1), budget);
    },
  ],
  ["find", (of, given) => of.indexOf(named("find", ["sub"], given).text("sub", ""))],
  [
    "count",
    (of, given) => {
      const wanted = named("count", ["sub"], given).text("sub", "");
      return wanted === "" ? of.length + 1 : of.split(wanted).length - 1;
    },
  ],
  [
    "join",
    (of, given, budget) => {
      const parts = named("join", ["iterable"], given).value("iterable") ?? null;
      if (!isList(parts)) throw new TemplateError("join needs a list");
      const texts = parts.map((part) => textOf(part, budget));
      budget.text(texts.reduce((sum, text) => sum + text.length + of.length, 0));
      return texts.join(of);
    },
  ],
]);

const MAP_METHODS: ReadonlyMap<string, Method<ValueMap>> = new Map<string, Method<ValueMap>>([
  [
    "get",
    (of, given) => {
      const { value } = named("get", ["key", "default"], given);
      const key = value("key") ?? null;
      return either(isKey(key) ? of.get(key) : undefined, value("default") ?? null);
    },
  ],
  ["items", plain((of) => [...of])],
  ["keys", plain((of) => [...of.keys()])],
  ["values", plain((of) => [...of.values()])],
]);

const LIST_METHODS: ReadonlyMap<string, Method<readonly Value[]>> = new Map<string, Method<readonly Value[]>>([
  [
    "count",
    (of, given, budget) => {
      const wanted = named("count", ["value"], given).value("value") ?? null;
      return of.filter((item) => equal(item, wanted, budget)).length;
    },
  ],
]);

/** @throws TemplateError for a method that is not in these lists */
export function callMethod(of: Value, name: string, given: Given, budget: Budget): Value {
  if (of instanceof Undefined) throw new TemplateError(of.complaint);
  if (typeof of === "string") {
    budget.text(of.length);
    const method = TEXT_METHODS.get(name);
    if (method !== undefined) return method(of, given, budget);
  } else if (isMap(of)) {
    budget.list(of.size);
    const method = MAP_METHODS.get(name);
    if (method !== undefined) return method(of, given, budget);
  } else if (isList(of)) {
    budget.list(of.length);
    const method = LIST_METHODS.get(name);
    if (method !== undefined) return method(of, given, budget);
  }
  throw new TemplateError(`${typeName(of)} has no method "${name}"`);
}

import { RANGE_MAX, RENDERED_CHARS_MAX, TEMPLATE_DEPTH_MAX } from "../limits.ts";
import type { Given } from "./arguments.ts";
import type { Budget } from "./budget.ts";
import { applyFilter, type FilterContext } from "./filters.ts";
import { itemsOf } from "./list-filters.ts";
import { callMethod } from "./methods.ts";
import { arithmetic, compare, defined, isKey, member, slice } from "./operators.ts";
import type { Application, Arguments, Body, Expression, MacroDefinition, Statement, Target } from "./syntax.ts";
import { applyTest } from "./tests.ts";
import { textOf } from "./text-form.ts";
import {
  Float,
  isList,
  isTrue,
  type Key,
  Macro,
  Namespace,
  numberOf,
  TemplateError,
  typeName,
  Undefined,
  type Value,
  type Variables,
} from "./value.ts";

/** What starting an iteration of a loop costs. */
const ITERATION_STEPS = 3;

/**
 * Renders a parsed template. It walks the tree and computes with `Value`s alone: no code is generated from the template and no property of
 * a host object is ever read, so there is no way out of it; and every step is paid from `budget`, so there is no way to stay in it.
 *
 * @throws TemplateError with the line of the tag that failed
 */
export function evaluate(body: Body, variables: Variables, budget: Budget): string {
  let depth = 0;
  const context: FilterContext = {
    budget,
    filter: (name, value, given) => applyFilter(name, value, given, context),
    test: (name, value, given) => applyTest(name, value, given, budget),
  };

  const render = (statements: Body, scope: Scope): string => {
    const out = new Output();
    for (const statement of statements) out.add(rendered(statement, scope));
    return out.text;
  };

  const rendered = (statement: Statement, scope: Scope): string => {
    if (statement.kind === "text") return statement.text;
    budget.spend(1);
    try {
      return performed(statement, scope);
    } catch (error) {
      if (error instanceof TemplateError) error.line ??= statement.line;
      throw error;
    }
  };

  const performed = (statement: Exclude<Statement, { kind: "text" }>, scope: Scope): string => {
    switch (statement.kind) {
      case "output":
        return textOf(compute(statement.expression, scope), budget);
      case "if": {
        const branch = statement.branches.find(({ condition }) => isTrue(compute(condition, scope)));
        return render(branch?.body ?? statement.otherwise, scope);
      }
      case "for":
        return loop(statement, scope);
      case "set":
        assignAll(statement.targets, compute(statement.value, scope), scope);
        return "";
      case "capture":
        assign(
          statement.target,
          filteredText(render(statement.body, new Scope(scope)), statement.filters, scope),
          scope,
        );
        return "";
      case "filter":
        return textOf(filteredText(render(statement.body, new Scope(scope)), statement.filters, scope), budget);
      case "with": {
        const inner = new Scope(scope);
        for (const { name, value } of statement.bindings) inner.set(name, compute(value, inner));
        return render(statement.body, inner);
      }
      case "macro":
        scope.set(
          statement.macro.name,
          new Macro(statement.macro.name, { ...statement.macro, scope } satisfies BoundMacro),
        );
        return "";
    }
  };

  const filteredText = (text: string, filters: readonly Application[], scope: Scope): Value =>
    filters.reduce<Value>(
      (value, { name, arguments: args }) => applyFilter(name, value, given(args, scope), context),
      text,
    );

  const loop = (statement: Extract<Statement, { kind: "for" }>, scope: Scope): string => {
    const bind = (item: Value, facts: (() => Value) | null): Scope => {
      budget.spend(ITERATION_STEPS);
      const inner = new Scope(scope, facts);
      if (statement.targets.length === 1) inner.set(statement.targets[0] ?? "", item);
      else
        for (const [index, part] of unpacked(item, statement.targets.length).entries())
          inner.set(statement.targets[index] ?? "", part);
      return inner;
    };
    const { condition } = statement;
    let items = itemsOf(compute(statement.iterable, scope), budget);
    if (condition !== null) items = items.filter((item) => isTrue(compute(condition, bind(item, null))));
    if (items.length === 0) return render(statement.otherwise, scope);
    const out = new Output();
    for (const [index, item] of items.entries()) {
      out.add(
        render(
          statement.body,
          bind(item, () => loopFacts(items, index)),
        ),
      );
    }
    return out.text;
  };

  const unpacked = (value: Value, count: number): readonly Value[] => {
    const parts = itemsOf(value, budget);
    if (parts.length !== count) throw new TemplateError(`${count} names cannot take apart ${parts.length} values`);
    return parts;
  };

  const assignAll = (targets: readonly Target[], value: Value, scope: Scope): void => {
    const [only] = targets;
    const parts = targets.length === 1 && only !== undefined ? [value] : unpacked(value, targets.length);
    targets.forEach((target, index) => {
      assign(target, parts[index] ?? null, scope);
    });
  };

  const assign = ({ name, member: part }: Target, value: Value, scope: Scope): void => {
    if (part === null) {
      scope.set(name, value);
      return;
    }
    const namespace = scope.get(name);
    if (!(namespace instanceof Namespace))
      throw new TemplateError(`"${name}" is no namespace, its "${part}" cannot be set`);
    namespace.members.set(part, value);
  };

  const lookUp = (name: string, scope: Scope): Value => {
    const set = scope.get(name);
    const value = set === undefined ? variables.get(name) : set;
    return value === undefined ? new Undefined(`'${name}' is undefined`) : value;
  };

  const given = ({ positional, named }: Arguments, scope: Scope): Given => ({
    positional: positional.map((argument) => compute(argument, scope)),
    named: new Map(named.map(({ name, value }) => [name, compute(value, scope)])),
  });

  const compute = (expression: Expression, scope: Scope): Value => {
    budget.spend(1);
    switch (expression.kind) {
      case "literal":
        return expression.value;
      case "name":
        return lookUp(expression.name, scope);
      case "list":
        return expression.items.map((item) => compute(item, scope));
      case "dict":
        return new Map(expression.entries.map(({ key, value }) => [keyOf(compute(key, scope)), compute(value, scope)]));
      case "attribute":
        return member(compute(expression.of, scope), expression.name, budget);
      case "item":
        return member(compute(expression.of, scope), compute(expression.key, scope), budget);
      case "slice": {
        const bound = (part: Expression | null): number | null =>
          part === null ? null : boundOf(compute(part, scope));
        const { of, start, stop, step } = expression;
        return slice(defined(compute(of, scope)), bound(start), bound(stop), bound(step) ?? 1, budget);
      }
      case "call":
        return called(expression.name, given(expression.arguments, scope), scope);
      case "method":
        return callMethod(compute(expression.of, scope), expression.name, given(expression.arguments, scope), budget);
      case "filtered": {
        const { name, arguments: args } = expression.filter;
        return applyFilter(name, compute(expression.of, scope), given(args, scope), context);
      }
      case "test": {
        const { name, arguments: args } = expression.test;
        return applyTest(name, compute(expression.of, scope), given(args, scope), budget);
      }
      case "not":
        return !isTrue(compute(expression.of, scope));
      case "sign":
        return signed(expression.sign, compute(expression.of, scope));
      case "arithmetic":
        return arithmetic(
          expression.operator,
          compute(expression.left, scope),
          compute(expression.right, scope),
          budget,
        );
      case "concat": {
        const texts = expression.parts.map((part) => textOf(compute(part, scope), budget));
        budget.text(texts.reduce((sum, text) => sum + text.length, 0));
        return texts.join("");
      }
      case "compare": {
        let left = compute(expression.first, scope);
        return expression.rest.every(({ operator, value }) => {
          const right = compute(value, scope);
          const holds = compare(operator, left, right, budget);
          left = right;
          return holds;
        });
      }
      case "and": {
        const left = compute(expression.left, scope);
        return isTrue(left) ? compute(expression.right, scope) : left;
      }
      case "or": {
        const left = compute(expression.left, scope);
        return isTrue(left) ? left : compute(expression.right, scope);
      }
      case "choice":
        if (isTrue(compute(expression.condition, scope))) return compute(expression.chosen, scope);
        return expression.otherwise === null
          ? new Undefined("the inline if has no else")
          : compute(expression.otherwise, scope);
    }
  };

  const called = (name: string, args: Given, scope: Scope): Value => {
    const callee = lookUp(name, scope);
    if (callee instanceof Macro && isBound(callee.definition)) return expanded(callee.definition, args);
    if (!(callee instanceof Undefined)) throw new TemplateError(`"${name}" cannot be called`);
    if (name === "range") return range(args, budget);
    if (name === "dict" || name === "namespace") {
      if (args.positional.length > 0) throw new TemplateError(`${name} takes named arguments only`);
      return name === "dict" ? args.named : new Namespace(new Map(args.named));
    }
    throw new TemplateError(callee.complaint);
  };

  const expanded = (macro: BoundMacro, { positional, named }: Given): Value => {
    if (++depth > TEMPLATE_DEPTH_MAX) throw new TemplateError(`the macro "${macro.name}" calls itself too deeply`);
    if (positional.length > macro.parameters.length)
      throw new TemplateError(`the macro "${macro.name}" takes fewer arguments`);
    const inner = new Scope(macro.scope);
    macro.parameters.forEach(({ name, fallback }, index) => {
      const argument = index < positional.length ? positional[index] : named.get(name);
      if (argument !== undefined) inner.set(name, argument);
      else if (fallback !== null) inner.set(name, compute(fallback, inner));
      else inner.set(name, new Undefined(`parameter '${name}' was not given`));
    });
    const text = render(macro.body, inner);
    depth--;
    return text;
  };

  return render(body, new Scope(null));
}

interface BoundMacro extends MacroDefinition {
  readonly scope: Scope;
}

function isBound(definition: object): definition is BoundMacro {
  return "scope" in definition && definition.scope instanceof Scope;
}

/** Names set in a block; inner blocks see outer names, not the other way round. */
class Scope {
  readonly #outer: Scope | null;
  /** Answers for `loop` in the body of one, made when asked. */
  readonly #loop: (() => Value) | null;
  readonly #names = new Map<string, Value>();

  constructor(outer: Scope | null, loop: (() => Value) | null = null) {
    this.#outer = outer;
    this.#loop = loop;
  }

  set(name: string, value: Value): void {
    this.#names.set(name, value);
  }

  get(name: string): Value | undefined {
    let scope: Scope | null = this;
    while (scope !== null) {
      const value = scope.#names.get(name);
      if (value !== undefined) return value;
      if (name === "loop" && scope.#loop !== null) return scope.#loop();
      scope = scope.#outer;
    }
    return undefined;
  }
}

/** Text that grows up to the limit. */
class Output {
  text = "";

  add(piece: string): void {
    if (this.text.length + piece.length > RENDERED_CHARS_MAX)
      throw new TemplateError(`the text grows beyond ${RENDERED_CHARS_MAX} characters`);
    this.text += piece;
  }
}

function loopFacts(items: readonly Value[], index: number): Value {
  const { length } = items;
  return new Map<Key, Value>([
    ["index", index + 1],
    ["index0", index],
    ["revindex", length - index],
    ["revindex0", length - index - 1],
    ["first", index === 0],
    ["last", index === length - 1],
    ["length", length],
    ["previtem", index === 0 ? new Undefined("there is no previous item") : (items[index - 1] ?? null)],
    ["nextitem", index === length - 1 ? new Undefined("there is no next item") : (items[index + 1] ?? null)],
  ]);
}

function range({ positional, named }: Given, budget: Budget): Value {
  const numbers = positional.map((value) => (typeof value === "number" ? value : Number.NaN));
  const [first = Number.NaN, second, step = 1] = numbers;
  if (named.size > 0 || positional.length > 3 || numbers.some(Number.isNaN) || Number.isNaN(first) || step === 0)
    throw new TemplateError("range takes one to three integers, the step not zero");
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > RANGE_MAX) throw new TemplateError(`range is longer than ${RANGE_MAX}`);
  budget.list(length);
  return Array.from({ length }, (_, index) => start + index * step);
}

function keyOf(value: Value): Key {
  if (isKey(value)) return value;
  throw new TemplateError(`${typeName(value)} cannot be a key`);
}

function boundOf(value: Value): number | null {
  if (value === null) return null;
  if (typeof value === "number") return value;
  throw new TemplateError(`a slice takes integers, not ${typeName(value)}`);
}

function signed(sign: 1 | -1, value: Value): Value {
  const number = numberOf(defined(value));
  if (number === null || isList(value)) throw new TemplateError(`${typeName(value)} has no sign`);
  return value instanceof Float ? new Float(sign * number) : sign * number;
}

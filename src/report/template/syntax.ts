import type { Value } from "./value.ts";

/** What a template is parsed into. Lines count from 1. */
export type Statement =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "output"; readonly expression: Expression; readonly line: number }
  | { readonly kind: "if"; readonly branches: readonly Branch[]; readonly otherwise: Body; readonly line: number }
  | {
      readonly kind: "for";
      readonly targets: readonly string[];
      readonly iterable: Expression;
      readonly condition: Expression | null;
      readonly body: Body;
      readonly otherwise: Body;
      readonly line: number;
    }
  | { readonly kind: "set"; readonly targets: readonly Target[]; readonly value: Expression; readonly line: number }
  | {
      readonly kind: "capture";
      readonly target: Target;
      readonly filters: Filters;
      readonly body: Body;
      readonly line: number;
    }
  | { readonly kind: "filter"; readonly filters: Filters; readonly body: Body; readonly line: number }
  | { readonly kind: "with"; readonly bindings: readonly Binding[]; readonly body: Body; readonly line: number }
  | { readonly kind: "macro"; readonly macro: MacroDefinition; readonly line: number };

export type Body = readonly Statement[];

export interface Branch {
  readonly condition: Expression;
  readonly body: Body;
}

/** `name`, or `name.member` of a namespace. */
export interface Target {
  readonly name: string;
  readonly member: string | null;
}

export interface Binding {
  readonly name: string;
  readonly value: Expression;
}

export interface MacroDefinition {
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly fallback: Expression | null }[];
  readonly body: Body;
}

export interface Arguments {
  readonly positional: readonly Expression[];
  readonly named: readonly Binding[];
}

/** `name(arguments)` after a `|` or an `is`. */
export interface Application {
  readonly name: string;
  readonly arguments: Arguments;
}

export type Filters = readonly Application[];

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";
export type CompareOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

export type Expression =
  | { readonly kind: "literal"; readonly value: Value }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  | { readonly kind: "dict"; readonly entries: readonly { readonly key: Expression; readonly value: Expression }[] }
  | { readonly kind: "attribute"; readonly of: Expression; readonly name: string }
  | { readonly kind: "item"; readonly of: Expression; readonly key: Expression }
  | {
      readonly kind: "slice";
      readonly of: Expression;
      readonly start: Expression | null;
      readonly stop: Expression | null;
      readonly step: Expression | null;
    }
  | { readonly kind: "call"; readonly name: string; readonly arguments: Arguments }
  | { readonly kind: "method"; readonly of: Expression; readonly name: string; readonly arguments: Arguments }
  | { readonly kind: "filtered"; readonly of: Expression; readonly filter: Application }
  | { readonly kind: "test"; readonly of: Expression; readonly test: Application }
  | { readonly kind: "not"; readonly of: Expression }
  | { readonly kind: "sign"; readonly sign: 1 | -1; readonly of: Expression }
  | {
      readonly kind: "arithmetic";
      readonly operator: ArithmeticOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "concat"; readonly parts: readonly Expression[] }
  | {
      readonly kind: "compare";
      readonly first: Expression;
      readonly rest: readonly { readonly operator: CompareOperator; readonly value: Expression }[];
    }
  | { readonly kind: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | {
      readonly kind: "choice";
      readonly condition: Expression;
      readonly chosen: Expression;
      readonly otherwise: Expression | null;
    };

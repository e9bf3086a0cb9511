import { TEMPLATE_DEPTH_MAX } from "../limits.ts";
import { hasFilter } from "./filters.ts";
import type { Token } from "./lexer.ts";
import type { Application, Arguments, ArithmeticOperator, Binding, CompareOperator, Expression } from "./syntax.ts";
import { hasTest } from "./tests.ts";
import { TemplateError, type Value } from "./value.ts";

const CONSTANTS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);

/** Words that end an expression and cannot be variable names. */
const KEYWORDS = new Set(["and", "or", "not", "in", "is", "if", "else", "elif"]);

const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);

/** Calls other than macros. Everything else callable is a method that `methods.ts` lists. */
const NO_ARGUMENTS: Arguments = { positional: [], named: [] };

export type ExpressionParser = ReturnType<typeof expressionParser>;

/**
 * Recursive descent over the tokens of one tag, loosest binding first: choice, or, and, not, comparison, `+ -`, `~`, `* / // %`, `**`, sign,
 * then attributes, calls, filters and tests.
 */
export function expressionParser(tokens: readonly Token[], line: number) {
  let at = 0;
  let depth = 0;

  const failed = (message: string): TemplateError => {
    const error = new TemplateError(message);
    error.line = tokens[Math.min(at, tokens.length - 1)]?.line ?? line;
    return error;
  };
  const unexpected = (): TemplateError => {
    const token = tokens[at];
    return failed(token === undefined ? "the tag ends too early" : `unexpected ${shown(token)}`);
  };
  const isOperator = (text: string): boolean => tokens[at]?.kind === "operator" && tokens[at]?.text === text;
  const isName = (text: string): boolean => tokens[at]?.kind === "name" && tokens[at]?.text === text;
  const accept = (operator: string): boolean => {
    if (!isOperator(operator)) return false;
    at++;
    return true;
  };
  const acceptName = (word: string): boolean => {
    if (!isName(word)) return false;
    at++;
    return true;
  };
  const expect = (operator: string): void => {
    if (!accept(operator)) throw unexpected();
  };
  const word = (): string => {
    const token = tokens[at];
    if (token?.kind !== "name") throw unexpected();
    at++;
    return token.text;
  };
  const name = (): string => {
    if (KEYWORDS.has(tokens[at]?.text ?? "")) throw unexpected();
    return word();
  };

  const expression = (): Expression => {
    if (++depth > TEMPLATE_DEPTH_MAX) throw failed("the expression is nested too deeply");
    let result = disjunction();
    while (acceptName("if")) {
      const condition = disjunction();
      const otherwise = acceptName("else") ? expression() : null;
      result = { kind: "choice", condition, chosen: result, otherwise };
    }
    depth--;
    return result;
  };

  const disjunction = (): Expression => {
    let left = conjunction();
    while (acceptName("or")) left = { kind: "or", left, right: conjunction() };
    return left;
  };

  const conjunction = (): Expression => {
    let left = negation();
    while (acceptName("and")) left = { kind: "and", left, right: negation() };
    return left;
  };

  const negation = (): Expression => {
    let negations = 0;
    while (acceptName("not")) negations++;
    let result = comparison();
    for (; negations > 0; negations--) result = { kind: "not", of: result };
    return result;
  };

  const comparison = (): Expression => {
    const first = sum();
    const rest: { operator: CompareOperator; value: Expression }[] = [];
    for (let operator = compareOperator(); operator !== null; operator = compareOperator())
      rest.push({ operator, value: sum() });
    return rest.length === 0 ? first : { kind: "compare", first, rest };
  };

  const compareOperator = (): CompareOperator | null => {
    const token = tokens[at];
    if (token?.kind === "operator" && isComparison(token.text)) {
      at++;
      return token.text;
    }
    if (acceptName("in")) return "in";
    if (isName("not") && tokens[at + 1]?.text === "in") {
      at += 2;
      return "not in";
    }
    return null;
  };

  /** Operators of one binding strength, from left to right. */
  const leftToRight = (operators: readonly ArithmeticOperator[], operand: () => Expression) => (): Expression => {
    let left = operand();
    for (;;) {
      const operator = operators.find(isOperator);
      if (operator === undefined) return left;
      at++;
      left = { kind: "arithmetic", operator, left, right: operand() };
    }
  };

  const power = leftToRight(["**"], () => signed());
  const product = leftToRight(["*", "/", "//", "%"], power);
  const concatenation = (): Expression => {
    const parts = [product()];
    while (accept("~")) parts.push(product());
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: "concat", parts };
  };
  const sum = leftToRight(["+", "-"], concatenation);

  const signed = (): Expression => {
    const signs: (1 | -1)[] = [];
    for (;;) {
      if (accept("-")) signs.push(-1);
      else if (accept("+")) signs.push(1);
      else break;
    }
    let result = postfix(primary());
    for (const sign of signs.reverse()) result = { kind: "sign", sign, of: result };
    return filtered(result);
  };

  const primary = (): Expression => {
    const token = tokens[at];
    if (token === undefined) throw unexpected();
    if (token.kind === "string") {
      let text = "";
      for (let next = tokens[at]; next?.kind === "string"; next = tokens[++at]) text += next.value;
      return { kind: "literal", value: text };
    }
    if (token.kind === "number") {
      at++;
      return { kind: "literal", value: token.value };
    }
    if (token.kind === "name") {
      const constant = CONSTANTS.get(token.text);
      if (constant === undefined) return { kind: "name", name: name() };
      at++;
      return { kind: "literal", value: constant };
    }
    if (accept("(")) return bracketed();
    if (accept("[")) return { kind: "list", items: listUntil("]") };
    if (accept("{")) return dict();
    throw unexpected();
  };

  /** After `(`: a tuple is a list here, `(x)` is x. */
  const bracketed = (): Expression => {
    if (accept(")")) return { kind: "list", items: [] };
    const inner = expression();
    if (accept(")")) return inner;
    expect(",");
    return { kind: "list", items: [inner, ...listUntil(")")] };
  };

  const listUntil = (closing: string): Expression[] => {
    const items: Expression[] = [];
    while (!accept(closing)) {
      if (items.length > 0) {
        expect(",");
        if (accept(closing)) break;
      }
      items.push(expression());
    }
    return items;
  };

  const dict = (): Expression => {
    const entries: { key: Expression; value: Expression }[] = [];
    while (!accept("}")) {
      if (entries.length > 0) {
        expect(",");
        if (accept("}")) break;
      }
      const key = expression();
      expect(":");
      entries.push({ key, value: expression() });
    }
    return { kind: "dict", entries };
  };

  const postfix = (start: Expression): Expression => {
    let of = start;
    for (;;) {
      if (accept(".")) {
        const token = tokens[at];
        if (token?.kind === "number" && typeof token.value === "number") {
          at++;
          of = { kind: "item", of, key: { kind: "literal", value: token.value } };
          continue;
        }
        if (token?.kind !== "name") throw unexpected();
        at++;
        of = accept("(")
          ? { kind: "method", of, name: token.text, arguments: callArguments() }
          : { kind: "attribute", of, name: token.text };
      } else if (accept("[")) of = subscript(of);
      else if (isOperator("(")) {
        if (of.kind !== "name") throw failed("only macros and named functions can be called");
        at++;
        of = { kind: "call", name: of.name, arguments: callArguments() };
      } else return of;
    }
  };

  const subscript = (of: Expression): Expression => {
    const part = (): Expression | null => (isOperator(":") || isOperator("]") ? null : expression());
    const start = part();
    if (start !== null && accept("]")) return { kind: "item", of, key: start };
    expect(":");
    const stop = part();
    const step = accept(":") ? part() : null;
    expect("]");
    return { kind: "slice", of, start, stop, step };
  };

  const callArguments = (): Arguments => {
    const positional: Expression[] = [];
    const named: Binding[] = [];
    while (!accept(")")) {
      if (positional.length + named.length > 0) {
        expect(",");
        if (accept(")")) break;
      }
      const next = tokens[at + 1];
      if (tokens[at]?.kind === "name" && next?.kind === "operator" && next.text === "=") {
        const argument = name();
        at++;
        named.push({ name: argument, value: expression() });
      } else {
        if (named.length > 0) throw failed("a positional argument follows a named one");
        positional.push(expression());
      }
    }
    return { positional, named };
  };

  const filter = (): Application => {
    const word = name();
    if (!hasFilter(word)) throw failed(`there is no filter "${word}"`);
    return { name: word, arguments: accept("(") ? callArguments() : NO_ARGUMENTS };
  };

  const filtered = (start: Expression): Expression => {
    let of = start;
    for (;;) {
      if (accept("|")) of = { kind: "filtered", of, filter: filter() };
      else if (acceptName("is")) {
        const negated = acceptName("not");
        const test: Expression = { kind: "test", of, test: testApplication() };
        of = negated ? { kind: "not", of: test } : test;
      } else if (isOperator("(")) throw unexpected();
      else return of;
    }
  };

  /** The name after `is`, with arguments in brackets or one bare operand: `is divisibleby 3`. */
  const testApplication = (): Application => {
    const token = tokens[at];
    if (token === undefined) throw unexpected();
    const word = token.kind === "name" || isComparison(token.text) ? token.text : "";
    if (!hasTest(word)) throw failed(`there is no test "${token.text}"`);
    at++;
    if (accept("(")) return { name: word, arguments: callArguments() };
    const next = tokens[at];
    const bare =
      next !== undefined &&
      (next.kind === "string" ||
        next.kind === "number" ||
        (next.kind === "name" && !KEYWORDS.has(next.text)) ||
        (next.kind === "operator" && (next.text === "[" || next.text === "{")));
    return { name: word, arguments: bare ? { positional: [postfix(primary())], named: [] } : NO_ARGUMENTS };
  };

  return {
    expression,
    /** `a, b` without brackets is a list. */
    tupleOrExpression(): Expression {
      const first = expression();
      if (!isOperator(",")) return first;
      const items = [first];
      while (accept(",") && at < tokens.length) items.push(expression());
      return { kind: "list", items };
    },
    /** An expression that stops before `if`, as in `for x in xs if x`. */
    withoutChoice: disjunction,
    filter,
    /** Any word, also one that cannot name a variable. */
    word,
    name,
    accept,
    acceptName,
    expect,
    expectName(word: string): void {
      if (!acceptName(word)) throw unexpected();
    },
    atEnd: (): boolean => at >= tokens.length,
    end(): void {
      if (at < tokens.length) throw unexpected();
    },
  };
}

function isComparison(text: string): text is CompareOperator {
  return COMPARISONS.has(text);
}

function shown(token: Token): string {
  return token.kind === "string" ? `text ${token.text}` : `"${token.text}"`;
}

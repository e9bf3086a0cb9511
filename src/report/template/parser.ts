import { TEMPLATE_DEPTH_MAX } from "../limits.ts";
import { type ExpressionParser, expressionParser } from "./expression-parser.ts";
import { type Segment, segments, type Token } from "./lexer.ts";
import type { Application, Binding, Body, Branch, Expression, Statement, Target } from "./syntax.ts";
import { TemplateError } from "./value.ts";

/** Tags of Jinja2 that would reach for other templates or files, or that make no sense in a report. */
const REFUSED = new Set(["include", "import", "from", "extends", "block", "call", "do", "trans", "autoescape"]);

/**
 * Parses a template (running 11.1).
 *
 * @throws TemplateError with the line, at the first thing that is not understood
 */
export function parse(source: string): Body {
  const rest = segments(source);
  let at = 0;
  let depth = 0;

  /** Statements up to one of the tags `ends`, which is left as the current one. */
  const bodyUntil = (ends: readonly string[], opener: { readonly tag: string; readonly line: number } | null): Body => {
    if (++depth > TEMPLATE_DEPTH_MAX) throw failed("blocks are nested too deeply", opener?.line ?? 1);
    const body: Statement[] = [];
    for (let segment = rest[at]; segment !== undefined; segment = rest[at]) {
      if (segment.kind === "tag" && ends.includes(tagName(segment))) {
        depth--;
        return body;
      }
      at++;
      body.push(statement(segment));
    }
    if (opener !== null) throw failed(`{% ${opener.tag} %} is never closed with {% ${ends.at(-1)} %}`, opener.line);
    depth--;
    return body;
  };

  const statement = (segment: Segment): Statement => {
    if (segment.kind === "text") return segment;
    const { line } = segment;
    const parser = expressionParser(segment.tokens, line);
    if (segment.kind === "output") {
      const expression = parser.tupleOrExpression();
      parser.end();
      return { kind: "output", expression, line };
    }
    const tag = parser.word();
    switch (tag) {
      case "if":
        return ifStatement(parser, line);
      case "for":
        return forStatement(parser, line);
      case "set":
        return setStatement(parser, line);
      case "filter": {
        const filters = filterChain(parser);
        parser.end();
        return { kind: "filter", filters, body: closedBody("filter", line), line };
      }
      case "with": {
        const bindings: Binding[] = [];
        while (!parser.atEnd()) {
          if (bindings.length > 0) parser.expect(",");
          const name = parser.name();
          parser.expect("=");
          bindings.push({ name, value: parser.expression() });
        }
        return { kind: "with", bindings, body: closedBody("with", line), line };
      }
      case "macro":
        return macroStatement(parser, line);
    }
    if (REFUSED.has(tag)) throw failed(`{% ${tag} %} is not available in report templates`, line);
    throw failed(`unexpected {% ${tag} %}`, line);
  };

  /** The end tag after a body: `{% endfor %}`. */
  const closedBody = (tag: string, line: number): Body => {
    const body = bodyUntil([`end${tag}`], { tag, line });
    const closing = rest[at++];
    if (closing?.kind === "tag") {
      const parser = expressionParser(closing.tokens, closing.line);
      parser.word();
      if (tag === "macro" && !parser.atEnd()) parser.name();
      parser.end();
    }
    return body;
  };

  const nextTag = (): { readonly parser: ExpressionParser; readonly tag: string } => {
    const segment = rest[at++];
    if (segment?.kind !== "tag") throw new Error("a body ends at a tag");
    const parser = expressionParser(segment.tokens, segment.line);
    return { parser, tag: parser.word() };
  };

  const ifStatement = (opening: ExpressionParser, line: number): Statement => {
    const branches: Branch[] = [];
    let parser = opening;
    for (;;) {
      const condition = parser.tupleOrExpression();
      parser.end();
      branches.push({ condition, body: bodyUntil(["elif", "else", "endif"], { tag: "if", line }) });
      const next = nextTag();
      if (next.tag === "elif") {
        parser = next.parser;
        continue;
      }
      next.parser.end();
      const otherwise = next.tag === "else" ? closedBody("if", line) : [];
      return { kind: "if", branches, otherwise, line };
    }
  };

  const forStatement = (parser: ExpressionParser, line: number): Statement => {
    const bracketed = parser.accept("(");
    const targets = [parser.name()];
    while (parser.accept(",")) targets.push(parser.name());
    if (bracketed) parser.expect(")");
    parser.expectName("in");
    const iterable = parser.withoutChoice();
    const condition = parser.acceptName("if") ? parser.expression() : null;
    if (parser.acceptName("recursive")) throw failed("recursive loops are not available in report templates", line);
    parser.end();
    const body = bodyUntil(["else", "endfor"], { tag: "for", line });
    const next = nextTag();
    next.parser.end();
    const otherwise = next.tag === "else" ? closedBody("for", line) : [];
    return { kind: "for", targets, iterable, condition, body, otherwise, line };
  };

  const setStatement = (parser: ExpressionParser, line: number): Statement => {
    const target = (): Target => {
      const name = parser.name();
      return { name, member: parser.accept(".") ? parser.name() : null };
    };
    const first = target();
    const targets = [first];
    while (parser.accept(",")) targets.push(target());
    if (parser.accept("=")) {
      const value = parser.tupleOrExpression();
      parser.end();
      return { kind: "set", targets, value, line };
    }
    const filters = parser.accept("|") ? filterChain(parser) : [];
    parser.end();
    return { kind: "capture", target: first, filters, body: closedBody("set", line), line };
  };

  const macroStatement = (parser: ExpressionParser, line: number): Statement => {
    const name = parser.name();
    parser.expect("(");
    const parameters: { name: string; fallback: Expression | null }[] = [];
    while (!parser.accept(")")) {
      if (parameters.length > 0) parser.expect(",");
      const parameter = parser.name();
      parameters.push({ name: parameter, fallback: parser.accept("=") ? parser.expression() : null });
    }
    parser.end();
    return { kind: "macro", macro: { name, parameters, body: closedBody("macro", line) }, line };
  };

  return bodyUntil([], null);
}

function filterChain(parser: ExpressionParser): Application[] {
  const filters = [parser.filter()];
  while (parser.accept("|")) filters.push(parser.filter());
  return filters;
}

function tagName(segment: { readonly tokens: readonly Token[] }): string {
  return segment.tokens[0]?.text ?? "";
}

function failed(message: string, line: number): TemplateError {
  const error = new TemplateError(message);
  error.line = line;
  return error;
}

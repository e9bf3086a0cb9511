/**
 * Templates of reports (running 11.1): Jinja2 as people's configurations are written in it.
 *
 * It is an interpreter of our own, because every engine at hand compiles templates to JavaScript and runs them, which neither keeps a
 * template from the host nor lets one be stopped (docs/decisions/report-templates.md).
 */
import { TEMPLATE_CACHE_MAX } from "../limits.ts";
import { Budget } from "./budget.ts";
import { evaluate } from "./evaluate.ts";
import { parse } from "./parser.ts";
import type { Body } from "./syntax.ts";
import { TemplateError, type Variables } from "./value.ts";

/** Parsed once per distinct source; least recently used first. */
const parsed = new Map<string, Body>();

/**
 * Renders `source`. Takes some microseconds for the default texts, and never more than the limits allow.
 *
 * @throws TemplateError whose message names the line
 */
export function render(source: string, variables: Variables): string {
  try {
    return evaluate(bodyOf(source), variables, new Budget());
  } catch (error) {
    if (error instanceof TemplateError) throw new TemplateError(worded(error));
    throw error;
  }
}

/** What is wrong with a template's syntax, with its line, or null; for the load of a configuration. */
export function templateProblem(source: string): string | null {
  try {
    bodyOf(source);
    return null;
  } catch (error) {
    if (error instanceof TemplateError) return worded(error);
    throw error;
  }
}

function bodyOf(source: string): Body {
  const known = parsed.get(source);
  const body = known ?? parse(source);
  if (known !== undefined) parsed.delete(source);
  else if (parsed.size >= TEMPLATE_CACHE_MAX)
    for (const oldest of parsed.keys()) {
      parsed.delete(oldest);
      break;
    }
  parsed.set(source, body);
  return body;
}

function worded({ message, line }: TemplateError): string {
  return line === null ? message : `${message} (line ${line})`;
}

import type { ReportConfig } from "../config/model.ts";
import { templateProblem } from "./template/template.ts";

/** A template of a report block that can never be rendered. */
export interface BlockTemplateProblem {
  /** `mail.subject`, `sentry.fingerprint[1]`, … */
  readonly option: string;
  /** What is wrong, with the line in the template. */
  readonly problem: string;
}

/** The templates of a block that have syntax errors; for the load of a configuration (running 11.1 item 6). */
export function blockTemplateProblems({ mail, sentry, webhook }: ReportConfig): BlockTemplateProblem[] {
  const templates: [option: string, template: string][] = [
    ["mail.subject", mail.subject],
    ["mail.body", mail.body],
    ["sentry.body", sentry.body],
    ...sentry.fingerprint.map((part, index): [string, string] => [`sentry.fingerprint[${index}]`, part]),
    ["webhook.body", webhook.body],
  ];
  return templates.flatMap(([option, template]) => {
    const problem = templateProblem(template);
    return problem === null ? [] : [{ option, problem }];
  });
}

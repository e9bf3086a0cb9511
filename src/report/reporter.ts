import type { ReportConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { Story } from "./story.ts";
import { render } from "./template/template.ts";
import { TemplateError, type Variables } from "./template/value.ts";
import type { Turns } from "./turns.ts";

/** One way to tell: mail, webhook and so on. Each loads its library when it first tells something. */
export interface Reporter {
  readonly name: "sentry" | "mail" | "shell" | "webhook" | "push";
  /** Whether the block asks for it. */
  acts(block: ReportConfig): boolean;
  /**
   * Tells, and resolves at its own limit at the latest. Trouble it has words for it logs itself.
   *
   * @param cancelled the daemon is about to stop: let go of everything
   * @throws what else went wrong, for the caller to log
   */
  tell(telling: Telling, cancelled: AbortSignal): Promise<void>;
}

export interface Telling {
  readonly block: ReportConfig;
  readonly story: Story;
  readonly variables: Variables;
}

/** What reporters work with. */
export interface ReporterParts {
  readonly log: Logger;
  readonly clock: Clock;
  readonly turns: Turns;
}

/**
 * Renders one text of a block.
 *
 * @param option its name, for the message of the error
 * @throws TemplateError
 */
export function rendered(option: string, template: string, variables: Variables): string {
  try {
    return render(template, variables);
  } catch (error) {
    throw error instanceof TemplateError ? new TemplateError(`${option}: ${error.message}`) : error;
  }
}

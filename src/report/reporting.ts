import { setMaxListeners } from "node:events";
import type { ReportConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { ReportFacts, Reporting } from "../contract/report.ts";
import type { Clock } from "../platform/clock.ts";
import type { Spawner } from "../platform/spawn/spawner.ts";
import type { HttpOut } from "./http-exchange.ts";
import { httpOutWhenUsed } from "./http-out-when-used.ts";
import { mailReporter } from "./mail.ts";
import type { Push } from "./push/push.ts";
import type { Reporter, ReporterParts, Telling } from "./reporter.ts";
import { sentryReporter } from "./sentry.ts";
import { shellReporter } from "./shell.ts";
import { aboutOf, outcomeOf, type Story, story } from "./story.ts";
import { turns } from "./turns.ts";
import { variables } from "./variables.ts";
import { webhookReporter } from "./webhook.ts";

export interface ReportingParts {
  readonly log: Logger;
  readonly clock: Clock;
  /** The daemon's HOSTNAME, or the system's host name. */
  readonly host: string;
  /** The `push` section that is applied now, null without one; asked for each report, so a reload takes effect. */
  readonly push: () => Push | null;
  /** Starts shell reporters. */
  readonly spawner: Spawner;
  /** That many random bytes as hex. */
  readonly randomHex: (bytes: number) => string;
  /** Connections out, shared with the push relay. */
  readonly http?: HttpOut;
}

export interface RunningReporting extends Reporting {
  /**
   * Ends whatever still goes on, reports of events among it: a stopping daemon first waits for the reports of its runs. Later reports do
   * nothing.
   */
  close(): void;
}

/**
 * Tells people and systems of runs, late jobs and events (running 11, 12).
 *   R1. Reporters of a block run side by side; each ends at its own limit, and none of them can stop another or the caller.
 *   R2. Work starts in slices: hundreds of reports at once never hold the event loop for long.
 *   R3. A library is loaded when its reporter first tells something.
 *   R4. `close` ends what still goes on: sockets are closed, shell reporters killed.
 *
 * `eventlog` is for Windows; here it never acts.
 */
export function createReporting({
  log,
  clock,
  host,
  push,
  spawner,
  randomHex,
  http = httpOutWhenUsed(),
}: ReportingParts): RunningReporting {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one for each report under way
  const parts: ReporterParts = { log, clock, turns: turns(clock) };
  const reporters: readonly Reporter[] = [
    sentryReporter(parts, http, randomHex),
    mailReporter(parts),
    shellReporter(parts, spawner, daemonEnvironment(host)),
    webhookReporter(parts, http),
    pushReporter(push, log),
  ];

  const tell = async (reporter: Reporter, telling: Telling): Promise<void> => {
    try {
      await reporter.tell(telling, closing.signal);
    } catch (error) {
      if (closing.signal.aborted) return; // R4
      const why = error instanceof Error ? error.message : String(error);
      const stack = error instanceof Error ? (error.stack ?? null) : null;
      log.error(`Problem reporting ${outcomeOf(telling.story)}: ${reporter.name}: ${why}`, {
        reporter: reporter.name,
        stack,
      });
    }
  };

  return {
    wouldAct: (block) => reporters.some((reporter) => reporter.acts(block)),
    async report(block, facts) {
      const acting = reporters.filter((reporter) => reporter.acts(block));
      if (acting.length === 0 || closing.signal.aborted) return;
      const told = await parts.turns.take(() => tellingOf(block, facts, host));
      await Promise.all(acting.map((reporter) => tell(reporter, told))); // R1
    },
    close() {
      closing.abort();
      http.close();
    },
  };
}

function daemonEnvironment(host: string): Readonly<Record<string, string>> {
  const set = Object.entries({ ...process.env, HOSTNAME: host });
  return Object.fromEntries(set.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function tellingOf(block: ReportConfig, facts: ReportFacts, host: string): Telling {
  const told: Story = story(facts, host);
  return { block, story: told, variables: variables(told) };
}

function pushReporter(push: () => Push | null, log: Logger): Reporter {
  return {
    name: "push",
    acts: (block) => block.push.enabled,
    async tell({ block, story: told }, cancelled) {
      const applied = push();
      if (applied === null)
        log.error(`push: no \`push\` section is applied; the report of ${aboutOf(told)} is dropped`);
      else await applied.alert(block.push, told, cancelled);
    },
  };
}

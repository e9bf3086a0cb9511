import { Worker } from "node:worker_threads";
import { workerEntry } from "../platform/worker-entry.ts";
import { SENTRY_LIMIT_MS } from "./limits.ts";
import { type Reporter, type ReporterParts, rendered } from "./reporter.ts";
import { isConfigured, resolveSecret } from "./secret.ts";
import type { SentryAnswer, SentryOrder } from "./sentry-message.ts";
import { outcomeOf } from "./story.ts";
import { within } from "./within.ts";

/** Sends a report to Sentry as one message event (running 12.2). */
export interface SentryReporter extends Reporter {
  /** Ends the Sentry thread if it was ever started. */
  close(): Promise<void>;
}

export function sentryReporter({ log, clock }: ReporterParts): SentryReporter {
  const waiting = new Map<number, (problem: string | null) => void>();
  let worker: Worker | null = null;
  let orders = 0;

  const started = (): Worker => {
    if (worker !== null) return worker;
    const thread = new Worker(workerEntry("sentry", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    const ended = (why: string): void => {
      if (worker === thread) worker = null;
      for (const answer of waiting.values()) answer(why);
      waiting.clear();
    };
    thread.on("message", ({ id, problem }: SentryAnswer) => {
      waiting.get(id)?.(problem);
      waiting.delete(id);
    });
    thread.on("error", (error) => ended(`the Sentry thread failed: ${error.message}`));
    thread.on("exit", () => ended("the Sentry thread has ended"));
    thread.unref();
    worker = thread;
    return thread;
  };

  const order = (content: Omit<SentryOrder, "id">, signal: AbortSignal): Promise<string | null> => {
    const id = ++orders;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      signal.addEventListener("abort", () => waiting.delete(id), { once: true });
      started().postMessage({ ...content, id } satisfies SentryOrder);
    });
  };

  return {
    name: "sentry",
    acts: ({ sentry }) => isConfigured(sentry.dsn),
    async tell({ block: { sentry }, story, variables }, cancelled) {
      const outcome = await within(clock, SENTRY_LIMIT_MS, cancelled, async (signal) => {
        const dsn = await resolveSecret(sentry.dsn, "sentry.dsn");
        if (dsn.kind === "unset") return null;
        if (dsn.kind === "problem") {
          log.error(`sentry: ${dsn.problem}; not reporting`);
          return null;
        }
        const { name: job, exitCode, command, shell, success } = story;
        return await order(
          {
            dsn: dsn.text,
            environment: sentry.environment || null,
            serverName: story.host,
            message: rendered("sentry.body", sentry.body, variables),
            level: sentry.level || "error",
            fingerprint: sentry.fingerprint.map((part, index) =>
              rendered(`sentry.fingerprint[${index}]`, part, variables),
            ),
            extra: { job, exit_code: exitCode, command, shell, success, ...sentry.extra },
            textCharsMax: sentry.maxStringLength > 0 ? sentry.maxStringLength : 8_192,
            timestamp: clock.wallNow() / 1_000,
            limitMs: SENTRY_LIMIT_MS,
          },
          signal,
        );
      });
      const problem = outcome.kind === "done" ? outcome.value : null;
      if (problem !== null) log.error(`sentry: report of ${outcomeOf(story)}: ${problem}`);
      if (outcome.kind === "late")
        log.error(
          `sentry: report of ${outcomeOf(story)}: no answer within ${SENTRY_LIMIT_MS / 1_000} seconds; giving up on it`,
        );
    },
    async close() {
      await worker?.terminate();
    },
  };
}

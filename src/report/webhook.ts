import type { HttpOut } from "./http-exchange.ts";
import { NoAnswer } from "./http-exchange.ts";
import { WEBHOOK_ANSWER_CHARS_MAX, WEBHOOK_LIMIT_MS } from "./limits.ts";
import { type Reporter, type ReporterParts, rendered } from "./reporter.ts";
import { isConfigured, resolveSecret } from "./secret.ts";
import { aboutOf } from "./story.ts";
import { loggableAnswer } from "./webhook-redaction.rules.ts";
import { limitMs, within } from "./within.ts";

/**
 * Posts a report to a URL (running 12.4). The URL is a secret: it is in no message, and a redirect is not followed, because it would hand
 * the path and the configured headers to whatever host the answer names.
 */
export function webhookReporter({ log, clock, turns }: ReporterParts, http: HttpOut): Reporter {
  return {
    name: "webhook",
    acts: ({ webhook }) => isConfigured(webhook.url),
    async tell({ block: { webhook }, story, variables }, cancelled) {
      const who = `webhook reporter of ${aboutOf(story)}`;
      const timeoutMs = limitMs(webhook.timeoutSeconds, WEBHOOK_LIMIT_MS);
      const outcome = await within(clock, timeoutMs, cancelled, async (signal) => {
        const url = await resolveSecret(webhook.url, "webhook.url");
        if (url.kind === "unset") return;
        if (url.kind === "problem") {
          log.error(`webhook: ${url.problem}; not reporting`);
          return;
        }
        const answer = await turns.take(() =>
          http.send(
            {
              url: url.text,
              method: webhook.method,
              headers: [["Content-Type", webhook.contentType], ...Object.entries(webhook.headers)],
              body: rendered("webhook.body", webhook.body, variables),
            },
            signal,
          ),
        );
        if (answer.status >= 400) {
          const text = loggableAnswer(answer.text, answer.cut, url.text, WEBHOOK_ANSWER_CHARS_MAX);
          log.error(`${who}: server returned HTTP ${answer.status}: ${text}`);
        } else if (answer.status >= 300)
          log.error(
            `${who}: server returned HTTP ${answer.status}, a redirect, which is not followed; put the final address into webhook.url`,
          );
      }).catch((error: unknown) => {
        if (!(error instanceof NoAnswer)) throw error;
        log.error(`${who}: request failed (${error.code}); check webhook.url and the network`);
        return null;
      });
      if (outcome?.kind === "late")
        log.error(
          `${who}: request failed (no answer within ${timeoutMs / 1_000} seconds); check webhook.url and the network`,
        );
    },
  };
}

import { version } from "../contract/version.ts";
import { type HttpOut, NoAnswer } from "./http-exchange.ts";
import { SENTRY_LIMIT_MS, SENTRY_PAUSE_MAX_MS, SENTRY_PAUSES_MAX, SENTRY_TEXT_CHARS } from "./limits.ts";
import { type Reporter, type ReporterParts, rendered, type Telling } from "./reporter.ts";
import { isConfigured, resolveSecret } from "./secret.ts";
import { envelope, pauseSeconds, type SentryEvent, type SentryProject, sentryProject } from "./sentry-event.rules.ts";
import { outcomeOf } from "./story.ts";
import { within } from "./within.ts";

/**
 * Sends a report to Sentry as one message event (running 12.2). The envelope is ours, not the SDK's: docs/decisions/sentry.md. The DSN is
 * a secret: it is in no message.
 */
export function sentryReporter(
  { log, clock, turns }: ReporterParts,
  http: HttpOut,
  randomHex: (bytes: number) => string,
): Reporter {
  /** Until when (elapsed) a project wants no events, by its address and key. */
  const pauses = new Map<string, number>();

  const send = async (project: SentryProject, body: string, signal: AbortSignal): Promise<string | null> => {
    const key = `${project.publicKey}@${project.url}`;
    if (clock.elapsedNow() < (pauses.get(key) ?? 0)) return "the server asked for a pause; the event is dropped";
    pauses.delete(key);
    const secret = project.secretKey === null ? "" : `, sentry_secret=${project.secretKey}`;
    const authorisation = `Sentry sentry_version=7, sentry_client=cronstable/${version}, sentry_key=${project.publicKey}${secret}`;
    const answer = await http.send(
      {
        url: project.url,
        method: "POST",
        headers: [
          ["Content-Type", "application/x-sentry-envelope"],
          ["X-Sentry-Auth", authorisation],
        ],
        body,
      },
      signal,
    );
    const header = (name: string): string | null => answer.headers[name]?.toString() ?? null;
    const seconds = pauseSeconds(answer.status, header("x-sentry-rate-limits"), header("retry-after"), clock.wallNow());
    if (seconds !== null) {
      if (pauses.size >= SENTRY_PAUSES_MAX) pauses.clear();
      pauses.set(key, clock.elapsedNow() + Math.min(seconds * 1_000, SENTRY_PAUSE_MAX_MS));
    }
    return answer.status >= 200 && answer.status < 300 ? null : `the server returned HTTP ${answer.status}`;
  };

  return {
    name: "sentry",
    acts: ({ sentry }) => isConfigured(sentry.dsn),
    async tell(telling, cancelled) {
      const { sentry } = telling.block;
      const report = `sentry: report of ${outcomeOf(telling.story)}`;
      const outcome = await within(clock, SENTRY_LIMIT_MS, cancelled, async (signal) => {
        const dsn = await resolveSecret(sentry.dsn, "sentry.dsn");
        if (dsn.kind === "unset") return null;
        if (dsn.kind === "problem") {
          log.error(`sentry: ${dsn.problem}; not reporting`);
          return null;
        }
        const project = sentryProject(dsn.text);
        if (project === null) return "sentry.dsn is not a valid DSN";
        const charsMax = sentry.maxStringLength > 0 ? sentry.maxStringLength : SENTRY_TEXT_CHARS;
        return await turns.take(() =>
          send(project, envelope(eventOf(telling, randomHex(16), clock.wallNow()), charsMax), signal),
        );
      }).catch((error: unknown) => {
        if (!(error instanceof NoAnswer)) throw error;
        log.error(`${report}: request failed (${error.code}); check sentry.dsn and the network`);
        return null;
      });
      if (outcome?.kind === "done" && outcome.value !== null) log.error(`${report}: ${outcome.value}`);
      if (outcome?.kind === "late")
        log.error(`${report}: no answer within ${SENTRY_LIMIT_MS / 1_000} seconds; giving up on it`);
    },
  };
}

function eventOf({ block: { sentry }, story, variables }: Telling, id: string, at: number): SentryEvent {
  const { name: job, exitCode, command, shell, success } = story;
  return {
    id,
    at,
    message: rendered("sentry.body", sentry.body, variables),
    level: sentry.level || "error",
    fingerprint: sentry.fingerprint.map((part, index) => rendered(`sentry.fingerprint[${index}]`, part, variables)),
    extra: { job, exit_code: exitCode, command, shell, success, ...sentry.extra },
    environment: sentry.environment || null,
    serverName: story.host,
    client: { name: "cronstable", version },
  };
}

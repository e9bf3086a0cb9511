/**
 * The Sentry library, in a thread of its own: loading it takes some hundred milliseconds, which the event loop must not miss. It sends to
 * nobody but the orders' DSNs and hooks into nothing of the daemon.
 */
import { parentPort } from "node:worker_threads";
import {
  createEventEnvelope,
  createTransport,
  getEnvelopeEndpointWithUrlEncodedAuth,
  makeDsn,
  type SeverityLevel,
  truncate,
  uuid4,
} from "@sentry/core";
import { SENTRY_CLIENTS_MAX, SENTRY_IN_FLIGHT_MAX } from "./limits.ts";
import type { SentryAnswer, SentryOrder } from "./sentry-message.ts";

type Dsn = NonNullable<ReturnType<typeof makeDsn>>;
type Transport = ReturnType<typeof createTransport>;

interface Client {
  readonly dsn: Dsn;
  readonly transport: Transport;
}

/** By DSN and environment; least recently used first. Each remembers its server's wish for a pause. */
const clients = new Map<string, Client>();

parentPort?.on("message", (order: SentryOrder) => {
  const answer = (problem: string | null): void =>
    parentPort?.postMessage({ id: order.id, problem } satisfies SentryAnswer);
  send(order).then(answer, (error: unknown) => answer(reason(error)));
});

async function send(order: SentryOrder): Promise<string | null> {
  const client = clientOf(order);
  if (client === null) return "sentry.dsn is not a valid DSN";
  const cut = (value: unknown): unknown => (typeof value === "string" ? truncate(value, order.textCharsMax) : value);
  const envelope = createEventEnvelope(
    {
      event_id: uuid4(),
      timestamp: order.timestamp,
      platform: "node",
      logger: "cronstable",
      server_name: order.serverName,
      message: truncate(order.message, order.textCharsMax),
      level: order.level as SeverityLevel, // the server judges other words
      fingerprint: [...order.fingerprint],
      extra: Object.fromEntries(Object.entries(order.extra).map(([key, value]) => [key, cut(value)])),
      ...(order.environment === null ? {} : { environment: order.environment }),
    },
    client.dsn,
  );
  const { statusCode } = await client.transport.send(envelope);
  if (statusCode === undefined) return "the server asked for a pause (rate limit); the event is dropped";
  return statusCode < 300 ? null : `the server returned HTTP ${statusCode}`;
}

function clientOf({ dsn: text, environment, limitMs }: SentryOrder): Client | null {
  const key = JSON.stringify([text, environment]);
  const known = clients.get(key);
  if (known !== undefined) {
    clients.delete(key);
    clients.set(key, known);
    return known;
  }
  const dsn = makeDsn(text);
  if (dsn === undefined) return null;
  const url = getEnvelopeEndpointWithUrlEncodedAuth(dsn);
  const transport = createTransport(
    { bufferSize: SENTRY_IN_FLIGHT_MAX, recordDroppedEvent: () => {} },
    async ({ body }) => {
      const response = await fetch(url, {
        method: "POST",
        body: typeof body === "string" ? body : Uint8Array.from(body),
        headers: { "Content-Type": "application/x-sentry-envelope" },
        redirect: "error",
        signal: AbortSignal.timeout(limitMs),
      });
      await response.arrayBuffer();
      return {
        statusCode: response.status,
        headers: {
          "x-sentry-rate-limits": response.headers.get("x-sentry-rate-limits"),
          "retry-after": response.headers.get("retry-after"),
        },
      };
    },
  );
  if (clients.size >= SENTRY_CLIENTS_MAX) {
    const [oldest] = clients.keys();
    if (oldest !== undefined) clients.delete(oldest);
  }
  const client = { dsn, transport };
  clients.set(key, client);
  return client;
}

/** The class of the trouble alone: messages can quote the DSN. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : null;
  return `request failed (${code ?? (cause instanceof Error ? cause.name : "error")}); check sentry.dsn and the network`;
}

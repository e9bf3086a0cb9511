import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type HttpAnswer, type HttpOut, type HttpRequest, NoAnswer } from "./http-exchange.ts";
import { ANSWER_BYTES_MAX, IDLE_CONNECTION_MS, IDLE_CONNECTIONS_MAX } from "./limits.ts";

export function httpOut(): HttpOut {
  const options = { keepAlive: true, timeout: IDLE_CONNECTION_MS, maxFreeSockets: IDLE_CONNECTIONS_MAX };
  const http = new HttpAgent(options);
  const https = new HttpsAgent(options);

  const start = (url: URL, { method, headers, body }: HttpRequest, signal: AbortSignal): ClientRequest => {
    const bytes = Buffer.from(body, "utf8");
    const secure = url.protocol === "https:";
    const merged = new Map<string, readonly [string, string]>();
    for (const header of headers) merged.set(header[0].toLowerCase(), header);
    if (!merged.has("content-length")) merged.set("content-length", ["Content-Length", String(bytes.length)]);
    const request = (secure ? httpsRequest : httpRequest)(url, {
      agent: secure ? https : http,
      method: method.toUpperCase(),
      headers: Object.fromEntries(merged.values()),
      signal,
    });
    request.end(bytes);
    return request;
  };

  const attempt = (url: URL, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> =>
    new Promise((resolve, reject) => {
      const sent = start(url, request, signal);
      sent.once("response", (response) => {
        if ((response.statusCode ?? 0) < 400) {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: "", cut: false });
          discard(response);
        } else readText(response).then(resolve);
      });
      sent.on("error", (error) => reject(new Stale(codeOf(error), sent.reusedSocket)));
    });

  return {
    async send(request, signal) {
      let url: URL;
      try {
        url = new URL(request.url);
      } catch {
        throw new NoAnswer("ERR_INVALID_URL");
      }
      if (url.protocol !== "http:" && url.protocol !== "https:") throw new NoAnswer("ERR_INVALID_PROTOCOL");
      try {
        return await attempt(url, request, signal);
      } catch (error) {
        // The receiver closed a kept connection just as it was used again. Most likely it read nothing; a report told twice is the lesser evil.
        if (error instanceof Stale && error.reused && LOST.has(error.code) && !signal.aborted)
          return await attempt(url, request, signal);
        throw error instanceof NoAnswer ? error : new NoAnswer(codeOf(error));
      }
    },
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

/** How a connection that the other side has closed shows. */
const LOST: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

class Stale extends NoAnswer {
  constructor(
    code: string,
    readonly reused: boolean,
  ) {
    super(code);
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "error";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Lets the connection be used again if the answer is short, and closes it if not. */
function discard(response: IncomingMessage): void {
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) response.destroy();
  });
  response.setTimeout(IDLE_CONNECTION_MS, () => response.destroy());
  response.on("error", () => {}); // the status has been told; what becomes of the rest is of no interest
}

/** What came of the answer, also when it breaks off. */
function readText(response: IncomingMessage): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const done = (cut: boolean): void => {
      const text = Buffer.concat(chunks).toString("utf8");
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, cut });
    };
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes < ANSWER_BYTES_MAX) return;
      done(true);
      response.destroy();
    });
    response.once("end", () => done(false));
    response.once("error", () => done(true));
    response.once("close", () => done(true));
  });
}

import { type IncomingHttpHeaders, type RequestOptions, request } from "node:http";

export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
}

/** Speaks to an endpoint as a script would, with nothing added and nothing judged. */
export function wire(
  url: string,
  options: Pick<RequestOptions, "method" | "path" | "headers"> & {
    readonly body?: string | Uint8Array | undefined;
    /** Gives up: the connection breaks. */
    readonly signal?: AbortSignal;
  },
): Promise<WireAnswer> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, ...rest }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: bytes.toString("utf8"), bytes });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** A script of one run: `ask("GET", "/v1/run")` answers `200 {"runId": …}`. */
export function scriptOf(environment: Readonly<Record<string, string>>) {
  const { CRONSTABLE_STATE_URL: url = "", CRONSTABLE_STATE_TOKEN: token = "" } = environment;
  const send = (method: string, path: string, body?: string | Uint8Array): Promise<WireAnswer> =>
    wire(url, { method, path, body, headers: { Authorization: `Bearer ${token}` } });
  return {
    send,
    async ask(method: string, path: string, body?: string | Uint8Array): Promise<string> {
      const { status, text } = await send(method, path, body);
      return `${status} ${text}`;
    },
  };
}

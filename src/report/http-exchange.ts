import type { IncomingHttpHeaders } from "node:http";

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  /** Sent as they are; names in any case, later ones win. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Text of an answer of 400 and more, its start only when it is long. Empty otherwise. */
  readonly text: string;
  /** The text stops before the answer does. */
  readonly cut: boolean;
}

/**
 * A request that got no answer. `code` is all that may be shown: messages of the layers below can quote the URL, and a URL can be a
 * secret.
 */
export class NoAnswer extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/** Sends requests to receivers of reports over kept connections: no cookies, no redirects followed, no cap on what is in flight. */
export interface HttpOut {
  /**
   * @param signal closes the connection when it fires
   * @throws NoAnswer for an unusable URL, a failed connection or an aborted request
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Closes kept connections. */
  close(): void;
}

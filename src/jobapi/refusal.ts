/** Ends a request with `{"error": text}` and a status of 400 or more (V1-3). The text is for the job's author, without places of the store. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, text: string, headers: Readonly<Record<string, string>> = {}) {
    super(text);
    this.status = status;
    this.headers = headers;
  }
}

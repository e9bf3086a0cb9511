/** Why a call of the job API has no answer. */
export type JobApiFailure =
  /** The environment names no endpoint. */
  | "not in a job"
  /** No answer came: refused, reset, too late, not trusted. What was asked for may have been done all the same. */
  | "unreachable"
  /** The endpoint answered that it will not; `status` says how. */
  | "refused";

/** A call of the job API that did not succeed. */
export class JobApiError extends Error {
  override readonly name = "JobApiError";
  readonly failure: JobApiFailure;
  /** The HTTP status of an answer; null without one. */
  readonly status: number | null;
  constructor(failure: JobApiFailure, message: string, status: number | null = null) {
    super(message);
    this.failure = failure;
    this.status = status;
  }
}

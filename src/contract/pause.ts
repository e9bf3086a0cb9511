import type { EpochMs } from "../platform/clock.ts";

export type PauseChannel = "api" | "mcp" | "cli";

/** A job held by an operator (running 16): half-open, from `since` up to `until`. */
export interface JobPause {
  readonly since: EpochMs;
  readonly until: EpochMs;
  readonly note: string;
  readonly by: string;
  readonly channel: PauseChannel;
}

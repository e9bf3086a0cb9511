import type { ExitTimes } from "../companions.ts";

/** What the main thread asks of the sampling thread. `id` names a watch, not a process: pids come back. */
export type MonitorRequest =
  | { readonly kind: "watch"; readonly id: number; readonly pid: number; readonly intervalMs: number }
  | { readonly kind: "end"; readonly id: number; readonly exitTimes: ExitTimes | null };

/** One reading of one run. `processes` 0: nothing of it was there any more. */
export interface Reading {
  readonly id: number;
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly rssBytes: number;
  readonly processes: number;
}

/** What the sampling thread tells. Each "end" is answered by one "last". */
export type MonitorReport =
  | {
      readonly kind: "readings";
      readonly atElapsedMs: number;
      readonly atSeconds: number;
      readonly readings: readonly Reading[];
    }
  | { readonly kind: "last"; readonly atElapsedMs: number; readonly atSeconds: number; readonly reading: Reading }
  | { readonly kind: "unavailable" };

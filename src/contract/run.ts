import type { EpochMs } from "../platform/clock.ts";

/** 32 hex digits, unique per run. */
export type RunId = string;

/** What starts a run. `slot` is the due instant a scheduled, caught-up or retried run belongs to. */
export type Trigger =
  | { readonly kind: "schedule"; readonly slot: EpochMs }
  | { readonly kind: "boot" }
  | { readonly kind: "retry"; readonly attempt: number }
  | { readonly kind: "catch-up"; readonly slot: EpochMs }
  | { readonly kind: "manual"; readonly by: string | null }
  | { readonly kind: "dag"; readonly dag: string; readonly runKey: string; readonly taskKey: string };

/** Why a live run was told to stop. The first cause stays: a timed-out run that is then cancelled is a timed-out run. */
export type StopCause = "timeout" | "cancelled" | "replaced";

/** Text kept of one captured stream (running 2). */
export interface CapturedStream {
  /** First and last lines by `saveLimit`, with a marker where lines were discarded. */
  readonly text: string;
  readonly discardedLines: number;
}

/** What the `verify` command found (running 5.6). */
export interface Verification {
  readonly outcome: "passed" | "failed" | "timeout" | "error" | "cancelled";
  readonly exitCode: number | null;
  readonly startedAt: EpochMs;
  readonly finishedAt: EpochMs;
  readonly reason: string | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  readonly outputTruncated: boolean;
}

/** What a run's whole process tree used (running 17). */
export interface ResourceUsage {
  readonly cpuUserSeconds: number;
  readonly cpuSystemSeconds: number;
  readonly maxRssBytes: number;
  readonly samples: number;
  /** `[epoch seconds, cpu percent, rss bytes]`, oldest first. */
  readonly series: readonly (readonly [number, number, number])[];
}

/** Which caps of `resourceLimits` held (running 18). */
export interface LimitsRecord {
  readonly requested: { readonly cpu?: number; readonly memoryBytes?: number; readonly processes?: number };
  readonly enforced: readonly ("cpu" | "memory" | "processes")[];
  readonly notEnforced: readonly { readonly cap: "cpu" | "memory" | "processes"; readonly reason: string }[];
  readonly memoryExceeded: boolean;
  readonly memoryPeakBytes: number | null;
  readonly cpuThrottledSeconds: number | null;
  readonly processesPeak: number | null;
}

/** All that is known of a run whose process is gone, whose output is read and whose verdict is made. */
export interface RunResult {
  /** Just before the spawn, also for a launch that failed. */
  readonly startedAt: EpochMs;
  /** Exit of the direct child, or the kill (F-47); the launch failure's instant when nothing ran. */
  readonly endedAt: EpochMs;
  /** Streams drained and verification done. */
  readonly finishedAt: EpochMs;
  /** 127 launch failure (F-9), -100 timeout (F-10), -N killed by signal N. */
  readonly exitCode: number;
  /** The command could not be launched at all; the message says why. */
  readonly launchError: string | null;
  readonly stopped: StopCause | null;
  readonly stdout: CapturedStream | null;
  readonly stderr: CapturedStream | null;
  /** Complete environment of the child, null when it inherited the daemon's unchanged. For templates only: it holds secrets. */
  readonly environment: Readonly<Record<string, string>> | null;
  /** Null means success (F-1). Meaningless when `stopped` is "cancelled" or "replaced". */
  readonly failReason: string | null;
  readonly verification: Verification | null;
  readonly resources: ResourceUsage | null;
  readonly limits: LimitsRecord | null;
}

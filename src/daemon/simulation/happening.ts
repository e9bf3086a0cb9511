import type { NotRunReason } from "../../contract/reason.ts";
import type { RunId, Trigger } from "../../contract/run.ts";
import type { EpochMs } from "../../platform/clock.ts";

/** How a daemon ends: as by SIGTERM, waiting for its runs, or as by SIGKILL, leaving them behind. */
export type Ending = "stopped" | "killed";

/** What happens in a simulation, each at its instant. */
export type Happening = { readonly at: EpochMs } & (
  | { readonly kind: "daemon starts" }
  /** Nothing fires from here on; a stopped daemon still waits for its runs. */
  | { readonly kind: "daemon ends"; readonly how: Ending }
  /** The daemon is gone. */
  | { readonly kind: "daemon gone" }
  /** `endsAt`: when the run ends if nobody stops it. */
  | {
      readonly kind: "launched";
      readonly job: string;
      readonly runId: RunId;
      readonly trigger: Trigger;
      readonly endsAt: EpochMs;
    }
  | { readonly kind: "ended"; readonly job: string; readonly runId: RunId; readonly outcome: Outcome }
  | {
      readonly kind: "refused";
      readonly job: string;
      readonly trigger: Trigger;
      readonly slot: EpochMs | null;
      readonly reason: NotRunReason;
    }
  /** A workflow's schedule came due. */
  | { readonly kind: "dag due"; readonly dag: string; readonly slot: EpochMs }
);

export type Outcome = "success" | "failure" | "cancelled" | "replaced" | "unknown";

import type { Claim } from "./claim.rules.ts";
import type { Claimer } from "./instance.rules.ts";
import { IDLE_WAIT_SECONDS } from "./limits.ts";
import type { EpochSeconds, RunDocument, RunState, TaskKey } from "./run-document.ts";
import { draftOf, type RunDraft } from "./run-draft.ts";
import type { Verdict } from "./trigger.rules.ts";

/** What this node knows beside the document. */
export interface PassFacts extends Claimer {
  /** Keys of the claims of this run that were handed out to be launched and are not done with (D-CLM-2, D-CLM-8). */
  readonly handedOut: ReadonlySet<string>;
  /** Of processes of other daemons on this host, by `processKey`: whether one is alive and still the same (D-CRS-4). */
  readonly alive: ReadonlyMap<string, boolean>;
  /** Whether a pool has let in the claim of this key (D-POL-8); asked of tasks with a pool only. */
  readonly admitted: Pick<ReadonlySet<string>, "has">;
  /** How many claims this pass may still make. */
  readonly claimsLeft: number;
}

/** A process another daemon on this host started and may have left behind. */
export interface ForeignProcess {
  readonly taskKey: TaskKey;
  readonly pid: number;
  readonly pidStart: number | string | null;
}

export function processKey({ pid, pidStart }: Pick<ForeignProcess, "pid" | "pidStart">): string {
  return `${pid}/${pidStart ?? ""}`;
}

/** A list that must be read before a mapped task can go on. */
export interface AwaitedList {
  readonly taskId: string;
  readonly fromTask: string;
  readonly key: string;
}

/** What a pass found, beside the document it leads to. */
export interface Findings {
  /** Made by this pass, to be handed out and launched. Upstream first. */
  readonly claims: readonly Claim[];
  /** More could be claimed than the quota allows. */
  readonly deferred: boolean;
  readonly awaitedLists: readonly AwaitedList[];
  /** Claimable, but for their pool (D-POL-8). */
  readonly awaitingAdmission: readonly Claim[];
  /** Nobody said whether these live; their instances are left until somebody does. */
  readonly unknownProcesses: readonly ForeignProcess[];
  /** Gates that wait and were not told of (D-APR-5). */
  readonly gatesToTell: readonly TaskKey[];
  readonly timedOutSensors: readonly TaskKey[];
  /** Instances a dead owner had left behind (13.2). */
  readonly reconciled: readonly TaskKey[];
  /** Claims of this process of which nothing was launched (D-CLM-3); a pool slot they hold goes back (D-CLM-6). */
  readonly released: readonly Claim[];
}

export interface Pass extends Findings {
  /** The very one that came in when nothing changed (6.3c). */
  readonly document: RunDocument;
  /** Set when the run is over, by this pass or before it. */
  readonly over: RunEnd | null;
  /** When to look again unless something happens before; null when the run is over. */
  readonly nextWakeAt: EpochSeconds | null;
}

export interface RunEnd {
  readonly state: Exclude<RunState, "running">;
  /** Whether this pass ended it. */
  readonly byThisPass: boolean;
  /** Keys of what failed or could not run for that, sorted. */
  readonly failedTasks: readonly TaskKey[];
}

type Growing<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer Item)[] ? Item[] : T[K] };

/** A pass under way. */
export interface PassContext {
  readonly facts: PassFacts;
  readonly now: EpochSeconds;
  readonly draft: RunDraft;
  /** What the tasks passed so far are to their downstream. A task that is not part of the run is not in it, and so no blocker (4). */
  readonly effective: Map<string, string>;
  /** What the trigger rules of tasks said, once all before them was passed. */
  readonly verdicts: Map<string, Verdict>;
  readonly found: Growing<Findings>;
  /** Asks for another pass at `at` or, if that is past, at once. */
  wake(at: EpochSeconds): void;
  nextWakeAt(): EpochSeconds;
}

export function beginPass(document: RunDocument, facts: PassFacts, now: EpochSeconds): PassContext {
  let wakeAt = now + IDLE_WAIT_SECONDS;
  return {
    facts,
    now,
    draft: draftOf(document),
    effective: new Map(),
    verdicts: new Map(),
    found: {
      claims: [],
      deferred: false,
      awaitedLists: [],
      awaitingAdmission: [],
      unknownProcesses: [],
      gatesToTell: [],
      timedOutSensors: [],
      reconciled: [],
      released: [],
    },
    wake(at) {
      wakeAt = Math.min(wakeAt, Math.max(at, now));
    },
    nextWakeAt: () => wakeAt,
  };
}

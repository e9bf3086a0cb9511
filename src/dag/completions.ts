import type { DagConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import { failureText } from "../journal/drops.ts";
import type { Clock } from "../platform/clock.ts";
import type { Outcome } from "../store/store.ts";
import { COMPLETION_PASS_MS, COMPLETION_RETRY_MS, FAN_OUT_GATHER_MS } from "./cadence.ts";
import { type Completion, complete } from "./completion.rules.ts";
import type { RunDocument } from "./run-document.ts";
import { advanceLease } from "./run-key.rules.ts";
import type { RunChange, RunRef, RunStore, StoredRun } from "./run-store.ts";

/**
 * How tasks ended, on their way into their runs (D-CLM-10).
 *   C1. What arrives together is one write per run; while one is under way the rest gathers for the next. Where a pass over the run is to come
 *       anyway, it is the write of that pass. Ends that nothing waits for are written with others, or after a while.
 *   C2. Nothing is given up while the daemon lives: a write that failed, or of which nobody knows, is made again until the store shows
 *       the end, or that its claim is no longer in force.
 */
export interface Completions {
  /** @param wanted "with others": what follows it has to wait for others of its fan-out too */
  add(run: RunRef, runId: string, completion: Completion, wanted: "at once" | "with others"): void;
  /** What waits for a run, for a pass to write; nobody else writes it until the pass has told what came of it. */
  take(run: RunRef): TakenCompletions;
  /** Ends that are not stored yet. */
  readonly pending: number;
  /** Tries again at once what waits: the store may be back. */
  hurry(): void;
  /** Resolves when nothing is pending. */
  settled(): Promise<void>;
}

export interface TakenCompletions {
  /** The run with all of them that are of it. */
  readonly into: (document: RunDocument, dag: DagConfig) => RunDocument;
  /** @param outcome "not asked": the pass came to nothing before it would have written them */
  readonly settle: (outcome: Outcome<unknown> | { readonly kind: "not asked" }) => void;
}

interface Queue {
  readonly run: RunRef;
  readonly runId: string;
  waiting: Completion[];
  /** Whether one of those is wanted at once. */
  isWanted: boolean;
  /** "asked": a pass is to take them, or they are about to be written; "failed": they are to be written again, later. */
  phase: "gathering" | "asked" | "writing" | "failed";
  failures: number;
  cancelTimer: () => void;
}

export function createCompletions(parts: {
  readonly runs: RunStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Null for a DAG that is configured no more: its completions are dropped (13.3). */
  readonly dag: (name: string) => DagConfig | null;
  /** The run's document is written, or needs not be: its ends are no longer owed. */
  readonly onStored: (run: RunRef, runId: string, completions: readonly Completion[]) => void;
  /** Asks for a pass over the run. @returns whether one is to come */
  readonly askPass: (run: RunRef) => boolean;
}): Completions {
  const { runs, clock, log, onStored, askPass } = parts;
  const queues = new Map<string, Queue>();
  let waitingFor: (() => void)[] = [];

  const arm = (name: string, queue: Queue, delayMs: number): void => {
    queue.cancelTimer();
    queue.cancelTimer = clock.after(delayMs, () => void write(name, queue));
  };

  const ask = (name: string, queue: Queue): void => {
    queue.phase = "asked";
    arm(name, queue, askPass(queue.run) ? COMPLETION_PASS_MS : 0);
  };

  const gather = (name: string, queue: Queue): void => {
    queue.cancelTimer();
    if (queue.isWanted) ask(name, queue);
    else {
      queue.phase = "gathering";
      queue.cancelTimer = clock.after(FAN_OUT_GATHER_MS, () => ask(name, queue));
    }
  };

  const write = async (name: string, queue: Queue): Promise<void> => {
    if (queue.phase === "writing") return;
    const batch = begin(queue);
    const outcome = await store(queue, batch);
    settle(name, queue, batch, outcome);
    if (outcome.kind === "done") askPass(queue.run);
  };

  const begin = (queue: Queue): readonly Completion[] => {
    queue.phase = "writing";
    queue.cancelTimer();
    const batch = queue.waiting;
    queue.waiting = [];
    queue.isWanted = false;
    return batch;
  };

  const settle = (name: string, queue: Queue, batch: readonly Completion[], outcome: Outcome<unknown>): void => {
    if (outcome.kind !== "done") {
      queue.phase = "failed";
      queue.waiting = [...batch, ...queue.waiting]; // C2
      const delayMs = COMPLETION_RETRY_MS[Math.min(queue.failures++, COMPLETION_RETRY_MS.length - 1)] ?? 0;
      const { dag, runKey } = queue.run;
      log.warning(
        `dag ${dag}: run ${runKey}: the end of ${batch.map(({ claim }) => claim.taskKey).join(", ")} could not be stored (${failureText(outcome)}); trying again in ${delayMs / 1000} s`,
      );
      arm(name, queue, delayMs);
      return;
    }
    queue.failures = 0;
    onStored(queue.run, queue.runId, batch);
    if (queue.waiting.length > 0) {
      gather(name, queue);
      return;
    }
    queues.delete(name);
    if (queues.size === 0) {
      for (const resolve of waitingFor) resolve();
      waitingFor = [];
    }
  };

  const store = async ({ run, runId }: Queue, batch: readonly Completion[]): Promise<Outcome<null>> => {
    const dag = parts.dag(run.dag);
    if (dag === null) return { kind: "done", value: null };
    const outcome = await runs.change(run, (stored) => completed(stored, runId, dag, batch));
    if (outcome.kind !== "done" || outcome.value === null)
      return outcome.kind === "done" ? { kind: "done", value: null } : outcome;
    return { kind: "failed", failure: { reason: "unreadable", message: outcome.value } };
  };

  return {
    add(run, runId, completion, wanted) {
      const name = `${advanceLease(run.dag, run.runKey)}\0${runId}`;
      const known = queues.get(name);
      const queue = known ?? newQueue(run, runId);
      queues.set(name, queue);
      queue.waiting.push(completion);
      queue.isWanted ||= wanted === "at once";
      if (known === undefined || (queue.phase === "gathering" && queue.isWanted)) gather(name, queue); // C1
    },
    take({ dag, runKey }) {
      const taken = [...queues]
        .filter(
          ([, { run, phase }]) =>
            run.dag === dag && run.runKey === runKey && (phase === "gathering" || phase === "asked"),
        )
        .map(([name, queue]) => ({ name, queue, batch: begin(queue) }));
      return {
        into: (document, config) =>
          taken.reduce(
            (into, { queue, batch }) => (queue.runId === into.runId ? complete(into, config, batch).document : into),
            document,
          ),
        settle(outcome) {
          for (const { name, queue, batch } of taken) {
            if (outcome.kind !== "not asked") settle(name, queue, batch, outcome);
            else {
              queue.phase = "asked";
              queue.waiting = [...batch, ...queue.waiting];
              arm(name, queue, 0);
            }
          }
        },
      };
    },
    get pending() {
      return queues.size;
    },
    hurry() {
      for (const [name, queue] of queues) if (queue.phase !== "writing") arm(name, queue, 0);
    },
    settled: () =>
      new Promise((resolve) => {
        if (queues.size === 0) resolve();
        else waitingFor.push(resolve);
      }),
  };
}

function newQueue(run: RunRef, runId: string): Queue {
  return { run, runId, waiting: [], isWanted: false, phase: "gathering", failures: 0, cancelTimer: () => {} };
}

/** The answer is null, or what is wrong with a damaged document, which is never written over (D-REC-2). */
function completed(
  stored: StoredRun,
  runId: string,
  dag: DagConfig,
  batch: readonly Completion[],
): RunChange<string | null> {
  if (stored.kind === "damaged") return { kind: "keep", answer: stored.problem };
  if (stored.kind === "absent" || stored.run.runId !== runId) return { kind: "keep", answer: null };
  const { document } = complete(stored.run, dag, batch);
  return document === stored.run ? { kind: "keep", answer: null } : { kind: "put", run: document, answer: null };
}

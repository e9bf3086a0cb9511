import { inParallel } from "../journal/parallel.ts";
import type { Clock } from "../platform/clock.ts";
import type { JsonObject } from "../store/json.ts";
import type { Outcome } from "../store/store.ts";
import { PARALLEL_READS } from "./cadence.ts";
import type { EpochSeconds, RunDocument, RunState, TaskKey } from "./run-document.ts";
import type { RunStore } from "./run-store.ts";

/** What listings, adoption, retention and catch-up know of a run without its document. */
export interface IndexedRun {
  readonly runKey: string;
  readonly runId: string;
  readonly kind: string;
  readonly state: RunState;
  readonly logicalDate: string | null;
  readonly createdAt: EpochSeconds;
  readonly updatedAt: EpochSeconds;
  readonly taskStates: Readonly<Record<string, number>>;
  /** Of a recovery: how far its preparation is, and what it is about. */
  readonly recovery: JsonObject | null;
  /** Gates that wait for a decision. */
  readonly awaiting: readonly { readonly taskkey: TaskKey; readonly since: EpochSeconds | null }[];
}

/** The runs of one DAG as they were seen last, newest first. */
export interface IndexedRuns {
  readonly runs: readonly IndexedRun[];
  /** Keys whose documents cannot be understood. */
  readonly unreadable: readonly string[];
}

/**
 * The runs of each DAG, read when somebody asks. A finished run's entry stays until its key is gone, this node writes the run, or it is
 * found replaced (D-API-2); of all others the document is read again.
 *   I1. What this node has written, or may have written, is read anew before anybody is answered (D-API-1).
 */
export interface RunIndex {
  /** The runs of a DAG, not older than `maxAgeMs` as far as other nodes' changes go. */
  look(dag: string, maxAgeMs: number): Promise<Outcome<IndexedRuns>>;
  /** As they were seen last, without asking; null when nobody has asked yet. */
  known(dag: string): IndexedRuns | null;
  touched(dag: string, runKey: string): void;
  /** Reads everything anew the next time (D-RET-7). */
  drop(dag: string): void;
}

interface Shelf {
  readonly runs: Map<string, IndexedRun>;
  readonly unreadable: Set<string>;
  /** Written since they were read. */
  readonly touched: Set<string>;
  /** On the elapsed clock; when the listing that is shown began. */
  listedAt: number;
  loading: Promise<Outcome<null>> | null;
  shown: IndexedRuns | null;
}

export function createRunIndex(store: Pick<RunStore, "keys" | "read">, clock: Clock): RunIndex {
  const shelves = new Map<string, Shelf>();

  const shelfOf = (dag: string): Shelf => {
    const known = shelves.get(dag);
    if (known !== undefined) return known;
    const shelf: Shelf = {
      runs: new Map(),
      unreadable: new Set(),
      touched: new Set(),
      listedAt: Number.NEGATIVE_INFINITY,
      loading: null,
      shown: null,
    };
    shelves.set(dag, shelf);
    return shelf;
  };

  const load = async (dag: string, shelf: Shelf, whole: boolean): Promise<Outcome<null>> => {
    const began = clock.elapsedNow();
    const wanted = new Set(shelf.touched);
    shelf.touched.clear();
    const outcome = await read(dag, shelf, wanted, whole);
    if (outcome.kind === "done") {
      if (whole) shelf.listedAt = began;
      shelf.shown = shownOf(shelf);
    } else for (const key of wanted) shelf.touched.add(key);
    return outcome;
  };

  const read = async (dag: string, shelf: Shelf, wanted: Set<string>, whole: boolean): Promise<Outcome<null>> => {
    if (whole) {
      const keys = await store.keys(dag);
      if (keys.kind !== "done") return keys;
      const present = new Set(keys.value.names);
      for (const key of shelf.runs.keys()) if (!present.has(key)) shelf.runs.delete(key);
      shelf.unreadable.clear();
      for (const key of present) if ((shelf.runs.get(key)?.state ?? "running") === "running") wanted.add(key);
    }
    let failed: Outcome<null> | null = null;
    await inParallel(wanted, PARALLEL_READS, async (runKey) => {
      const found = await store.read({ dag, runKey });
      if (found.kind !== "done" && !(found.kind === "failed" && found.failure.reason === "unreadable")) {
        failed = found;
        return "stop";
      }
      shelf.runs.delete(runKey);
      shelf.unreadable.delete(runKey);
      if (found.kind === "failed" || found.value.kind === "damaged") shelf.unreadable.add(runKey);
      else if (found.value.kind === "run") shelf.runs.set(runKey, indexed(runKey, found.value.run));
      return "go on";
    });
    return failed ?? { kind: "done", value: null };
  };

  return {
    async look(dag, maxAgeMs) {
      const shelf = shelfOf(dag);
      const asked = clock.elapsedNow();
      while (shelf.loading !== null) await shelf.loading; // one that began before the question may have missed a write
      const whole = shelf.listedAt < asked - maxAgeMs;
      if (whole || shelf.touched.size > 0) {
        shelf.loading = load(dag, shelf, whole);
        const outcome = await shelf.loading.finally(() => {
          shelf.loading = null;
        });
        if (outcome.kind !== "done") return outcome;
      }
      return { kind: "done", value: shelf.shown ?? { runs: [], unreadable: [] } };
    },
    known: (dag) => shelves.get(dag)?.shown ?? null,
    touched: (dag, runKey) => void shelves.get(dag)?.touched.add(runKey),
    drop(dag) {
      const shelf = shelves.get(dag);
      if (shelf === undefined) return;
      shelf.runs.clear();
      shelf.listedAt = Number.NEGATIVE_INFINITY;
    },
  };
}

function shownOf({ runs, unreadable }: Shelf): IndexedRuns {
  return { runs: [...runs.values()].sort((a, b) => b.createdAt - a.createdAt), unreadable: [...unreadable] };
}

function indexed(runKey: string, run: RunDocument): IndexedRun {
  const { runId, kind, state, logicalDate, createdAt, updatedAt, tasks } = run;
  const counts = new Map<string, number>();
  const awaiting: { taskkey: TaskKey; since: EpochSeconds | null }[] = [];
  for (const [taskkey, record] of tasks) {
    counts.set(record.state, (counts.get(record.state) ?? 0) + 1);
    if (record.state === "running" && record.awaitingApproval === true)
      awaiting.push({ taskkey, since: record.startedAt });
  }
  const taskStates = Object.fromEntries(counts);
  const recovery =
    run.recovery === null
      ? null
      : { status: run.recovery.status ?? null, sourceRunKey: run.recovery.sourceRunKey ?? null };
  return { runKey, runId, kind, state, logicalDate, createdAt, updatedAt, taskStates, recovery, awaiting };
}

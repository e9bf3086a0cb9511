import { type Backend, onBackend } from "../journal/backend.ts";
import type { JsonObject } from "../store/json.ts";
import type { Change, Names, Outcome } from "../store/store.ts";
import type { RunDocument } from "./run-document.ts";
import { decodeRun, encodeRun } from "./run-document-codec.ts";
import { runNamespace } from "./run-key.rules.ts";

/** Which run, whoever asks. */
export interface RunRef {
  readonly dag: string;
  readonly runKey: string;
}

/** What lies under a run's key. */
export type StoredRun =
  | { readonly kind: "absent" }
  | { readonly kind: "run"; readonly run: RunDocument }
  /** `problem` names the entry. Nothing may be written over it (D-REC-2). */
  | { readonly kind: "damaged"; readonly problem: string };

/** What becomes of a run's document. */
export type RunChange<T> =
  | { readonly kind: "keep"; readonly answer: T }
  | { readonly kind: "put"; readonly run: RunDocument; readonly answer: T }
  | { readonly kind: "delete"; readonly answer: T };

/** The documents of DAG runs. Every operation is bounded by the store's own 10 s; "unknown" may still land (D-INT-10). */
export interface RunStore {
  keys(dag: string): Promise<Outcome<Names>>;
  read(run: RunRef): Promise<Outcome<StoredRun>>;
  /** One locked read-modify-write (D-CLM-1). `decide` is pure and may be called several times. */
  change<T>(run: RunRef, decide: (stored: StoredRun) => RunChange<T>): Promise<Outcome<T>>;
  /** Creates the run if nothing lies under its key, whatever that is (D-KEY-2). */
  create(run: RunDocument): Promise<Outcome<"created" | "exists">>;
}

/** @param onTouched told of each document that this node has changed, or may have changed */
export function createRunStore(backend: Backend, onTouched: (run: RunRef) => void): RunStore {
  /** The store remembers the newest body of a run; what it says need not be made out again. */
  const known = new WeakMap<JsonObject, StoredRun>();

  const said = (body: JsonObject | null): StoredRun => {
    if (body === null) return { kind: "absent" };
    const stored = known.get(body) ?? decodeRun(body);
    known.set(body, stored);
    return stored;
  };

  const change: RunStore["change"] = async (run, decide) => {
    let writes = false;
    const asBodies = <T>(decided: RunChange<T>): Change<T> => {
      writes = decided.kind !== "keep";
      if (decided.kind !== "put") return { kind: decided.kind, answer: decided.answer };
      const next = encodeRun(decided.run);
      known.set(next, { kind: "run", run: decided.run });
      return { kind: "put", body: next, answer: decided.answer };
    };
    const outcome = await onBackend(backend, ({ documents }) =>
      documents.mutate(runNamespace(run.dag), run.runKey, (body) => asBodies(decide(said(body))), { remember: true }),
    );
    if (writes && outcome.kind !== "failed") onTouched(run);
    return outcome;
  };

  return {
    change,
    keys: (dag) => onBackend(backend, ({ documents }) => documents.keys(runNamespace(dag))),
    async read({ dag, runKey }) {
      const read = await onBackend(backend, ({ documents }) => documents.read(runNamespace(dag), runKey));
      return read.kind === "done" ? { kind: "done", value: said(read.value.body) } : read;
    },
    create: (run) =>
      change<"created" | "exists">(run, (stored) =>
        stored.kind === "absent" ? { kind: "put", run, answer: "created" } : { kind: "keep", answer: "exists" },
      ),
  };
}

import type { DagConfig, DagTaskConfig } from "../../src/config/model.ts";
import { type Claim, claimKey } from "../../src/dag/claim.rules.ts";
import { type Became, type ClaimEnd, complete } from "../../src/dag/completion.rules.ts";
import { expanded } from "../../src/dag/expansion.rules.ts";
import type { FanOutList } from "../../src/dag/fan-out-list.rules.ts";
import { CLAIMS_PER_PASS_MAX } from "../../src/dag/limits.ts";
import type { Pass, PassFacts } from "../../src/dag/pass.ts";
import { plan } from "../../src/dag/plan.ts";
import { freshRun, type RunDocument, type TaskRecord } from "../../src/dag/run-document.ts";
import { decodeRun, encodeRun } from "../../src/dag/run-document-codec.ts";
import { isObject, type JsonObject, type JsonValue } from "../../src/store/json.ts";
import { encodeJson, parseJson } from "../../src/store/json-text.ts";

export const OWN = "0123456789ab";
export const FOREIGN = "ba9876543210";
export const HOST = "here";

export type WrittenTask = Pick<DagTaskConfig, "id"> & Partial<DagTaskConfig>;

/** A DAG as its configuration would be after loading. */
export function dagOf(tasks: readonly WrittenTask[], keys: Partial<DagConfig> = {}): DagConfig {
  return {
    name: "d",
    place: { file: "cron.yaml", line: 1, column: 1 },
    scheduleText: null,
    timing: null,
    utc: true,
    timezone: null,
    onMissed: "skip",
    startingDeadlineSeconds: null,
    catchupJitterSeconds: 0,
    clusterPolicy: "Leader",
    enabled: true,
    retainRuns: 50,
    ...keys,
    tasks: tasks.map((task) => ({
      type: "task",
      dependsOn: [],
      triggerRule: "all_success",
      retries: 0,
      retryDelaySeconds: 0,
      expand: null,
      pokeIntervalSeconds: 30,
      pokeTimeoutSeconds: 3600,
      pokeJitterSeconds: 0,
      onReject: "fail",
      job: null,
      ...task,
    })),
  };
}

export const IDENTITY = {
  runKey: "manual-000000000001",
  runId: "0123456789abcdef0123456789abcdef",
  kind: "manual",
  logicalDate: null,
  configurationRevision: null,
} as const;

export const START = 1_796_028_441.5;

export const succeeds: ClaimEnd = { kind: "exited", exitCode: 0, failReason: null, resources: null, limits: null };

export function exits(exitCode: number): ClaimEnd {
  const failReason = exitCode === 0 ? null : `command exited with code ${exitCode}`;
  return { kind: "exited", exitCode, failReason, resources: null, limits: null };
}

/** The bytes a document would have on disk, and what is read from them. */
export function throughTheStore(document: RunDocument): RunDocument {
  const encoded = encodeJson(encodeRun(document));
  if (encoded.kind !== "text") throw new Error(encoded.problem);
  const body = parseJson(encoded.text);
  const decoded = decodeRun(isObject(body) ? body : {});
  if (decoded.kind !== "run") throw new Error(decoded.problem);
  return decoded.run;
}

/** The document with some fields of one of its records changed. */
export function altered(document: RunDocument, key: string, fields: Partial<TaskRecord>): RunDocument {
  const record = document.tasks.get(key);
  if (record === undefined) throw new Error(`no ${key}`);
  return { ...document, tasks: new Map(document.tasks).set(key, { ...record, ...fields }) };
}

/** One run of a DAG and the node that owns it; time is told, and every write goes through the store's text. */
export interface PaperRun {
  now: number;
  dag: DagConfig;
  document: RunDocument;
  /** Claims that were handed out, by key. */
  readonly handedOut: Map<string, Claim>;
  facts: PassFacts;
  pass(facts?: Partial<PassFacts>): Pass;
  /** Ends the claim of a task key that is in flight. */
  end(taskKey: string, end: ClaimEnd, jitter?: number): Became | null;
  expand(lists: Readonly<Record<string, FanOutList>>): void;
  /** Everything handed out is forgotten: a new process under another token owns the run. */
  restart(proc: string): void;
  task(key: string): TaskRecord;
  states(): Readonly<Record<string, string>>;
}

export function runOnPaper(tasks: readonly WrittenTask[], facts: Partial<PassFacts> = {}): PaperRun {
  const dag = dagOf(tasks);
  const handedOut = new Map<string, Claim>();
  const node: PaperRun = {
    now: START,
    dag,
    document: freshRun(dag, IDENTITY, START),
    handedOut,
    facts: {
      proc: OWN,
      host: HOST,
      handedOut: new Set(),
      alive: new Map(),
      admitted: new Set(),
      claimsLeft: CLAIMS_PER_PASS_MAX,
      ...facts,
    },
    pass(more = {}) {
      const pass = plan(
        node.document,
        node.dag,
        { ...node.facts, handedOut: new Set(handedOut.keys()), ...more },
        node.now,
      );
      node.document = throughTheStore(pass.document);
      for (const claim of pass.claims) handedOut.set(claimKey(claim), claim);
      return pass;
    },
    end(taskKey, end, jitter = 0) {
      const [key, claim] = [...handedOut].find(([, { taskKey: other }]) => other === taskKey) ?? [];
      if (key === undefined || claim === undefined) throw new Error(`${taskKey} is not in flight`);
      const applied = complete(node.document, node.dag, [{ claim, proc: node.facts.proc, at: node.now, end, jitter }]);
      node.document = throughTheStore(applied.document);
      handedOut.delete(key);
      return applied.became[0] ?? null;
    },
    expand(lists) {
      node.document = throughTheStore(expanded(node.document, node.dag, new Map(Object.entries(lists)), node.now));
    },
    restart(proc) {
      handedOut.clear();
      node.facts = { ...node.facts, proc };
    },
    task(key) {
      const record = node.document.tasks.get(key);
      if (record === undefined) throw new Error(`no ${key}`);
      return record;
    },
    states() {
      return Object.fromEntries([...node.document.tasks].map(([key, { state }]) => [key, state]));
    },
  };
  return node;
}

export function items(...list: JsonValue[]): FanOutList {
  return { kind: "items", items: list };
}

export function bodyOf(document: RunDocument): JsonObject {
  return encodeRun(document);
}

import type { DagConfig, DagTaskConfig } from "../src/config/model.ts";
import { type Claim, claimKey } from "../src/dag/claim.rules.ts";
import { complete } from "../src/dag/completion.rules.ts";
import { expanded } from "../src/dag/expansion.rules.ts";
import type { PassFacts } from "../src/dag/pass.ts";
import { plan } from "../src/dag/plan.ts";
import { freshRun, type RunDocument } from "../src/dag/run-document.ts";
import { decodeRun, encodeRun } from "../src/dag/run-document-codec.ts";
import { encodeEnvelope } from "../src/store/envelope.ts";
import { dagRunRows } from "./dag-runs.ts";
import type { BenchRow } from "./row.ts";

const TASKS = 10_000;
const INSTANCES = 1_000;
const START = 1_796_028_441.5;

/** The planner on graphs and fan-outs far larger than people write, beside one copy of the same document; and whole runs. */
export async function dagRows(): Promise<BenchRow[]> {
  return [...bigGraphRows(), ...fanOutRows(), ...(await dagRunRows())];
}

function bigGraphRows(): BenchRow[] {
  const dag = dagOf(Array.from({ length: TASKS }, (_, n) => ({ id: `task-${n}`, dependsOn: upstreamOf(n) })));
  const fresh = freshRun(dag, identity, START);
  const half = halfDone(fresh);
  const body = encodeRun(half);
  const copyMs = medianMs(() => JSON.parse(JSON.stringify(body)));
  const quiet = plan(half, dag, { ...facts(), claimsLeft: TASKS }, START).document;
  const handedOut = new Set([...quiet.tasks].map(([taskKey]) => claimKey({ taskKey, attempt: 0, poke: null })));
  const row = (name: string, ours: number): BenchRow => ({
    name,
    ours,
    floor: copyMs,
    unit: "ms",
    ratio: ours / copyMs,
    target: "< 50 ms",
  });
  return [
    row(
      `a pass over ${TASKS} tasks that claims 32`,
      medianMs(() => plan(half, dag, facts(), START)),
    ),
    row(
      `a pass over ${TASKS} tasks with nothing to do`,
      medianMs(() => plan(quiet, dag, { ...facts(), handedOut }, START)),
    ),
    row(
      "the same document read and written",
      medianMs(() => encodeRun(decoded(body))),
    ),
  ];
}

/** Three tasks before it, near and far. */
function upstreamOf(n: number): string[] {
  if (n === 0) return [];
  return [...new Set([n - 1 - (n % 7), Math.floor(n / 2), Math.floor(n / 3)])]
    .filter((at) => at >= 0 && at < n)
    .map((at) => `task-${at}`);
}

/** The first half of the tasks has succeeded. */
function halfDone(run: RunDocument): RunDocument {
  const tasks = [...run.tasks].map(([key, record], n) => {
    if (n >= TASKS / 2) return [key, record] as const;
    return [
      key,
      { ...record, state: "success", startedAt: START, finishedAt: START + 1.25, exitCode: 0, host: "here" },
    ] as const;
  });
  return { ...run, tasks: new Map(tasks) };
}

/** A fan-out of the largest size, all its passes with the reading and writing around them. */
function fanOutRows(): BenchRow[] {
  const dag = dagOf([
    { id: "list" },
    { id: "each", dependsOn: ["list"], expand: { fromTask: "list", key: "items" } },
    { id: "join", dependsOn: ["each"] },
  ]);
  const items = Array.from({ length: INSTANCES }, (_, n) => `item-${n}`);
  let run = freshRun(dag, identity, START);
  let passes = 0;
  const started = performance.now();
  while (run.state === "running") {
    const pass = plan(decoded(encodeRun(run)), dag, facts(), START + passes);
    const done = complete(pass.document, dag, pass.claims.map(succeeded)).document;
    run = expanded(done, dag, new Map([["each", { kind: "items", items }]]), START + passes);
    passes++;
  }
  const ours = performance.now() - started;
  const text = encodeEnvelope(encodeRun(run));
  const bytes = text.kind === "text" ? text.text.length : Number.NaN;
  const copyMs = medianMs(() => JSON.parse(JSON.stringify(encodeRun(run))));
  return [
    {
      name: `one of the ${passes} passes of a fan-out of ${INSTANCES}, reading and writing included`,
      ours: ours / passes,
      floor: copyMs,
      unit: "ms",
      ratio: ours / passes / copyMs,
    },
    {
      name: "its document, per instance",
      ours: bytes / INSTANCES,
      floor: JSON.stringify(items).length / INSTANCES,
      unit: "bytes",
      ratio: bytes / JSON.stringify(items).length,
    },
  ];
}

function succeeded(claim: Claim) {
  const end = { kind: "exited", exitCode: 0, failReason: null, resources: null, limits: null } as const;
  return { claim, proc: "0123456789ab", at: START, end, jitter: 0 };
}

function facts(): PassFacts {
  return {
    proc: "0123456789ab",
    host: "here",
    handedOut: new Set(),
    alive: new Map(),
    admitted: new Set(),
    claimsLeft: 32,
  };
}

const identity = {
  runKey: "manual-000000000001",
  runId: "0123456789abcdef0123456789abcdef",
  kind: "manual",
  logicalDate: null,
  configurationRevision: null,
} as const;

function decoded(body: ReturnType<typeof encodeRun>): RunDocument {
  const outcome = decodeRun(body);
  if (outcome.kind === "run") return outcome.run;
  throw new Error(outcome.problem);
}

function medianMs(work: () => unknown): number {
  const times = Array.from({ length: 15 }, () => {
    const started = performance.now();
    work();
    return performance.now() - started;
  }).toSorted((a, b) => a - b);
  return times[7] ?? Number.NaN;
}

function dagOf(tasks: readonly (Pick<DagTaskConfig, "id"> & Partial<DagTaskConfig>)[]): DagConfig {
  return {
    name: "bench",
    place: { file: "bench.yaml", line: 1, column: 1 },
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

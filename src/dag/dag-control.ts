import type { DagConfig } from "../config/model.ts";
import type { DagAnswer, DagControl, DagRunAnswer, DecisionOutcome } from "../contract/dag-control.ts";
import type { Logger } from "../contract/log.ts";
import { type Dag, type DagRunDocument, type DagRunSummary, dagRunDocument } from "../contract/wire/dags.ts";
import { failureText } from "../journal/drops.ts";
import { isoInstant } from "../journal/instant.ts";
import type { Clock } from "../platform/clock.ts";
import { plainJson } from "../store/json.ts";
import type { Outcome } from "../store/store.ts";
import { backfill } from "./backfill.ts";
import { LISTING_MAX_AGE_MS } from "./cadence.ts";
import type { DagEngine } from "./engine.ts";
import { decideGate } from "./gate.rules.ts";
import { recover, recoverRange } from "./recovery.ts";
import type { IndexedRun, IndexedRuns } from "./run-index.ts";
import { runNamespace } from "./run-key.rules.ts";
import type { Session } from "./session.ts";
import { xcomEntries } from "./xcom-listing.ts";

/** What surfaces may ask of the engine (16). */
export function createDagControl(parts: {
  readonly engine: DagEngine;
  readonly clock: Clock;
  readonly log: Logger;
  readonly holder: string;
  readonly randomHex: (bytes: number) => string;
}): DagControl {
  const { engine, clock, log } = parts;

  const row = async (dag: DagConfig): Promise<Dag> => {
    const session = engine.session();
    const listed = await session?.index.look(dag.name, LISTING_MAX_AGE_MS);
    return { ...described(dag, engine.nextFire(dag.name)), ...(listed?.kind === "done" ? rollUp(listed.value) : {}) };
  };

  /** A configured DAG and its store, which may not be up yet, or not any more. */
  const inStore = async <T>(
    name: string,
    answer: (session: Session, dag: DagConfig) => Promise<DagRunAnswer<T>>,
  ): Promise<DagRunAnswer<T>> => {
    const dag = engine.dag(name);
    if (dag === null) return { kind: "unknown dag" };
    const session = engine.session();
    return session === null ? { kind: "unreadable" } : answer(session, dag);
  };

  const documentOf = async (session: Session, dag: string, runKey: string): Promise<DagRunAnswer<DagRunDocument>> => {
    const namespace = runNamespace(dag);
    const read = await session.store.documents.read(namespace, runKey);
    if (read.kind !== "done") return unanswered(`run ${runKey} of dag ${dag}`, read);
    if (read.value.body === null) return { kind: "unknown run" };
    const document = dagRunDocument.safeParse(plainJson(read.value.body));
    if (document.success) return { kind: "answer", value: document.data };
    log.error(`dag ${dag}: the document of run ${runKey} is damaged`);
    return { kind: "unreadable" };
  };

  const unanswered = (
    what: string,
    outcome: Exclude<Outcome<unknown>, { kind: "done" }>,
  ): { readonly kind: "timed out" } | { readonly kind: "unreadable" } => {
    log.error(`dags: ${what} cannot be read: ${failureText(outcome)}`);
    return { kind: outcome.kind === "unknown" ? "timed out" : "unreadable" };
  };

  const recoveryParts = (session: Session) => ({ ...parts, ...session });

  return {
    list: () => Promise.all(engine.dags().map(row)),
    async runs(name, limit) {
      const found = await inStore<readonly DagRunSummary[]>(name, async ({ index }) => {
        const listed = await index.look(name, LISTING_MAX_AGE_MS);
        if (listed.kind !== "done") return unanswered(`the runs of dag ${name}`, listed);
        return { kind: "answer", value: listed.value.runs.slice(0, limit).map(summaryOf) };
      });
      return found as DagAnswer<readonly DagRunSummary[]>; // no run is asked for
    },
    run: (name, runKey) => inStore(name, (session) => documentOf(session, name, runKey)),
    xcom: (name, runKey) =>
      inStore(name, async (session) => {
        const found = await documentOf(session, name, runKey);
        if (found.kind !== "answer") return found;
        const { runId } = found.value;
        return {
          kind: "answer",
          value: { dag: name, runKey, runId, ...(await xcomEntries(session.backend, name, runId)) },
        };
      }),
    taskOutput(name, runKey, taskKey) {
      if (engine.dag(name) === null) return { kind: "unknown dag" };
      return { kind: "answer", value: engine.output({ dag: name, runKey }, taskKey) };
    },
    async trigger(name, by) {
      const dag = engine.dag(name);
      if (dag === null) return { kind: "unknown dag" };
      const created = await engine.session()?.creation.manual(dag);
      if (created?.kind !== "done") {
        const why = created === undefined ? "there is no store" : failureText(created);
        log.error(`dag ${name}: a run could not be recorded: ${why}`);
        return { kind: "not recorded" };
      }
      log.info(`dag ${name}: run ${created.value} was triggered${by === null ? "" : ` by ${by}`}`);
      return { kind: "triggered", runKey: created.value };
    },
    async backfill(name, from, to) {
      const dag = engine.dag(name);
      if (dag === null) return { kind: "unknown dag" };
      return backfill(dag, from, to, { creation: engine.session()?.creation ?? null, log });
    },
    async decide(name, runKey, taskKey, decision, by): Promise<DecisionOutcome> {
      const dag = engine.dag(name);
      if (dag === null) return { kind: "unknown dag" };
      const session = engine.session();
      if (session === null) return { kind: "unknown run" };
      const run = { dag: name, runKey };
      const outcome = await session.runs.change<DecisionOutcome>(run, (stored) => {
        if (stored.kind === "absent") return { kind: "keep", answer: { kind: "unknown run" } };
        if (stored.kind === "damaged") return { kind: "keep", answer: { kind: "unreadable" } };
        const decided = decideGate(stored.run, dag, taskKey, decision, by, clock.wallNow() / 1000);
        if (decided.kind !== "decided") return { kind: "keep", answer: decided };
        return { kind: "put", run: decided.document, answer: { kind: "decided", state: decided.state } };
      });
      if (outcome.kind !== "done") {
        log.error(`dag ${name}: the decision on ${taskKey} of run ${runKey} failed: ${failureText(outcome)}`);
        return { kind: outcome.kind === "unknown" ? "timed out" : "unreadable" };
      }
      if (outcome.value.kind === "decided") {
        log.info(
          `dag ${name}: run ${runKey}: ${taskKey} was ${decision === "approve" ? "approved" : "rejected"} by ${by}`,
        );
        session.advancer.advance(run); // another owner sees it within 5 s (D-APR-6)
      }
      return outcome.value;
    },
    async recover(name, runKey, request) {
      const dag = engine.dag(name);
      const session = engine.session();
      if (dag === null) return { kind: "refused", error: "workflow not found" };
      return session === null ? { kind: "unavailable" } : recover(dag, runKey, request, recoveryParts(session));
    },
    async recoverRange(name, request) {
      const dag = engine.dag(name);
      const session = engine.session();
      if (dag === null) return { kind: "refused", error: "workflow not found" };
      return session === null ? { kind: "unavailable" } : recoverRange(dag, request, recoveryParts(session));
    },
    figures: () =>
      engine.dags().flatMap(({ name }) => {
        const known = engine.session()?.index.known(name) ?? null;
        if (known === null) return [];
        const active = known.runs.filter(({ state }) => state === "running");
        const gatesWaiting = active.reduce((sum, { awaiting }) => sum + awaiting.length, 0);
        return [{ dag: name, activeRuns: active.length, gatesWaiting }];
      }),
  };
}

/** What the configuration says of a DAG. */
function described(
  { name, enabled, tasks, retainRuns, timing, scheduleText }: DagConfig,
  nextFireAt: number | null,
): Dag {
  return {
    name,
    enabled,
    scheduled: timing !== null,
    retainRuns,
    tasks: tasks.map(({ id, type, dependsOn, triggerRule, retries, expand }) => ({
      id,
      type,
      dependsOn,
      triggerRule,
      retries,
      mapped: expand !== null,
    })),
    ...(scheduleText === null
      ? {}
      : { schedule: scheduleText, nextFireAt: nextFireAt === null ? null : isoInstant(nextFireAt) }),
  };
}

/** What its runs say; nothing of a DAG that has none. */
function rollUp({ runs }: IndexedRuns): Partial<Dag> {
  const [latest] = runs;
  if (latest === undefined) return {};
  const { runKey, state, kind, createdAt, updatedAt } = latest;
  const counts = new Map<string, number>();
  for (const run of runs) counts.set(run.state, (counts.get(run.state) ?? 0) + 1);
  return {
    latestRun: { runKey, state, kind, createdAt, updatedAt },
    runCounts: Object.fromEntries(counts),
    totalRuns: runs.length,
    awaiting: runs.flatMap((run) =>
      run.state === "running" ? run.awaiting.map((gate) => ({ runKey: run.runKey, ...gate })) : [],
    ),
    failedRuns: counts.get("failed") ?? 0,
  };
}

function summaryOf({
  runKey,
  runId,
  state,
  kind,
  logicalDate,
  createdAt,
  updatedAt,
  taskStates,
}: IndexedRun): DagRunSummary {
  return { runKey, runId, state, kind, logicalDate, createdAt, updatedAt, taskStates };
}

import { z } from "zod";
import type { DagConfig } from "../../config/model.ts";
import type { ControlPlane } from "../../contract/control-plane.ts";
import type { DagRunAnswer } from "../../contract/dag-control.ts";
import {
  backfilled,
  backfillRequest,
  type Dag,
  dag,
  dagRunDocument,
  dagRuns,
  dagTriggered,
  dagXcom,
  decided,
  decisionRequest,
} from "../../contract/wire/dags.ts";
import { boundedCount } from "../../schedule/query.ts";
import { type Answer, json, product, refusal } from "../answer.ts";
import { dagRunRows } from "../bounds.ts";
import type { Route } from "../call.ts";
import { countDoc, errorDoc, jsonDoc, textDoc } from "../docs.ts";
import { jsonProduct } from "../payloads/products.ts";
import { quoted } from "../quoted.ts";
import { labelOf } from "./job-actions.ts";

const RUN = "/dags/{name}/runs/{run_key}";
const TASK = `${RUN}/tasks/{taskkey}`;

const noSuchDag = errorDoc("There is no such DAG or run, or no store to look for it.");

/** Workflows (http 7.7, dags 16). Without the engine, what the configuration alone tells is shown, and nothing can be done. */
export function dagRoutes({ control }: { readonly control: ControlPlane }): Route[] {
  const isConfigured = (name: string): boolean => control.dagConfigs().some((config) => config.name === name);

  /** What is said of a run when there is no engine. */
  const withoutEngine = (name: string): DagRunAnswer<never> =>
    isConfigured(name) ? { kind: "no store" } : { kind: "unknown dag" };

  return [
    {
      method: "GET",
      path: "/dags",
      scope: "view",
      doc: {
        operationId: "listDags",
        tag: "dags",
        summary: "All DAGs, in the order of the configuration",
        conditional: true,
        answers: {
          200: jsonDoc("The DAGs; without a store that answers nothing is said of their runs.", z.array(dag)),
        },
      },
      handle: async () => product(jsonProduct((await control.dags?.list()) ?? control.dagConfigs().map(dagPayload))),
    },
    {
      method: "GET",
      path: "/dags/{name}/runs",
      scope: "view",
      doc: {
        operationId: "listDagRuns",
        tag: "dags",
        summary: "Runs of a DAG, newest first",
        query: { limit: countDoc("How many runs to show.", dagRunRows) },
        answers: { 200: jsonDoc("The runs.", dagRuns), 404: noSuchDag },
      },
      async handle({ params: { name = "" }, query }) {
        const found =
          (await control.dags?.runs(name, boundedCount(query.get("limit"), dagRunRows))) ?? withoutEngine(name);
        return runAnswer(name, "", found, (runs) => ({ dag: name, name, runs }));
      },
    },
    {
      method: "GET",
      path: RUN,
      scope: "view",
      doc: {
        operationId: "getDagRun",
        tag: "dags",
        summary: "One run with all its tasks",
        answers: { 200: jsonDoc("The run's document.", dagRunDocument), 404: noSuchDag },
      },
      async handle({ params: { name = "", run_key = "" } }) {
        const found = (await control.dags?.run(name, run_key)) ?? withoutEngine(name);
        return runAnswer(name, run_key, found, (document) => document);
      },
    },
    {
      method: "GET",
      path: `${RUN}/xcom`,
      scope: "view",
      doc: {
        operationId: "getDagRunXcom",
        tag: "dags",
        summary: "What the tasks of a run handed on",
        answers: { 200: jsonDoc("The newest version of each entry.", dagXcom), 404: noSuchDag },
      },
      async handle({ params: { name = "", run_key = "" } }) {
        const found = (await control.dags?.xcom(name, run_key)) ?? withoutEngine(name);
        return runAnswer(name, run_key, found, (xcom) => xcom);
      },
    },
    {
      method: "GET",
      path: `${TASK}/logs`,
      scope: "view",
      doc: {
        operationId: "streamDagTaskLogs",
        tag: "dags",
        summary: "Output of a task instance that runs on this node",
        answers: { 200: textDoc("Events `line`, at last one `end`.", "text/event-stream"), 404: noSuchDag },
      },
      handle({ params: { name = "", run_key = "", taskkey = "" } }) {
        const found = control.dags?.taskOutput(name, run_key, taskkey);
        if (found === undefined ? !isConfigured(name) : found.kind === "unknown dag") return dagNotFound(name);
        const output = found?.kind === "answer" ? found.value : null;
        return { kind: "log", follow: { output, numbered: null } };
      },
    },
    {
      method: "POST",
      path: "/dags/{name}/trigger",
      scope: "control",
      doc: {
        operationId: "triggerDag",
        tag: "dags",
        summary: "Start a run now",
        answers: {
          200: jsonDoc("The run's key.", dagTriggered),
          404: noSuchDag,
          500: errorDoc("The run could not be recorded."),
        },
      },
      async handle({ params: { name = "" }, caller }) {
        const outcome = (await control.dags?.trigger(name, labelOf(caller))) ?? {
          kind: isConfigured(name) ? ("not recorded" as const) : ("unknown dag" as const),
        };
        switch (outcome.kind) {
          case "triggered":
            return json({ dag: name, name, runKey: outcome.runKey });
          case "unknown dag":
            return dagNotFound(name);
          case "not recorded":
            return refusal(
              500,
              `the run of dag ${quoted(name)} could not be recorded; the reason is in the cronstable log`,
            );
        }
      },
    },
    {
      method: "POST",
      path: "/dags/{name}/backfill",
      scope: "control",
      doc: {
        operationId: "backfillDag",
        tag: "dags",
        summary: "Create the runs of past dates",
        body: { shape: backfillRequest, required: true },
        answers: {
          200: jsonDoc("How many dates were visited.", backfilled),
          400: errorDoc("The range makes no sense, or the DAG has no schedule."),
          503: errorDoc("The store does not answer; what was written stays."),
        },
      },
      async handle({ params: { name = "" }, fields }) {
        const { from, to } = await fields();
        if (typeof from !== "string" || typeof to !== "string")
          return refusal(400, "backfill needs string `from` and `to` ISO dates");
        const outcome = (await control.dags?.backfill(name, from, to)) ?? {
          kind: isConfigured(name) ? ("unavailable" as const) : ("unknown dag" as const),
        };
        switch (outcome.kind) {
          case "created":
            return json({
              ok: true,
              created: outcome.instants,
              new: outcome.created,
              truncated: outcome.next !== null,
              ...(outcome.next === null ? {} : { next: outcome.next }),
            });
          case "unknown dag":
            return refusal(400, "no such scheduled dag");
          case "bad range":
            return refusal(400, "bad date range");
          case "no instants":
            return refusal(400, "the dag's schedule has no computable instants");
          case "unavailable":
            return refusal(503, "backfill state is unavailable");
        }
      },
    },
    {
      method: "POST",
      path: `${TASK}/decision`,
      scope: "approve",
      doc: {
        operationId: "decideDagTask",
        tag: "dags",
        summary: "Approve or reject a gate",
        body: { shape: decisionRequest, required: true },
        answers: {
          200: jsonDoc("What the gate became.", decided),
          400: errorDoc("The decision is neither of the two."),
          409: errorDoc("Nothing there awaits a decision."),
        },
      },
      async handle({ params: { name = "", run_key = "", taskkey = "" }, fields }) {
        const { decision, by } = await fields();
        if (decision !== "approve" && decision !== "reject")
          return refusal(400, "decision must be 'approve' or 'reject'");
        const who = typeof by === "string" && by !== "" ? by : "api";
        const outcome = (await control.dags?.decide(name, run_key, taskkey, decision, who)) ?? {
          kind: isConfigured(name) ? ("unknown run" as const) : ("unknown dag" as const),
        };
        switch (outcome.kind) {
          case "decided":
            return json({ ok: true, state: outcome.state });
          case "unknown dag":
            return refusal(409, "no such dag");
          case "unknown run":
            return refusal(409, "no such run");
          case "unknown task":
            return refusal(409, "no such task");
          case "not awaiting":
            return refusal(409, "task is not awaiting approval");
          case "unreadable":
          case "timed out":
            return unanswered(outcome.kind);
        }
      },
    },
  ];
}

function dagNotFound(name: string): Answer {
  return refusal(404, `dag ${quoted(name)} not found`);
}

function runAnswer<T>(name: string, runKey: string, found: DagRunAnswer<T>, shown: (value: T) => unknown): Answer {
  switch (found.kind) {
    case "answer":
      return json(shown(found.value));
    case "unknown dag":
      return dagNotFound(name);
    case "unknown run":
      return refusal(404, `dag ${quoted(name)} has no run ${quoted(runKey)}`);
    case "no store":
      return refusal(404, "no `state:` store is configured; DAG run documents only exist in a durable store");
    case "unreadable":
    case "timed out":
      return unanswered(found.kind);
  }
}

/** The store did not say. */
function unanswered(kind: "unreadable" | "timed out"): Answer {
  return kind === "unreadable"
    ? refusal(500, "internal error; the reason is in the cronstable log")
    : refusal(504, "the request timed out; the reason is in the cronstable log");
}

/** What the configuration alone says of a DAG. */
function dagPayload({ name, enabled, tasks, retainRuns, timing, scheduleText }: DagConfig): Dag {
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
    ...(scheduleText === null ? {} : { schedule: scheduleText }),
  };
}

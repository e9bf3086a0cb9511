import { z } from "zod";
import type { ControlPlane } from "../../contract/control-plane.ts";
import type { JobView } from "../../contract/job-view.ts";
import { job } from "../../contract/wire/job.ts";
import { activity, type JobResources, jobResources, jobRuns, trends } from "../../contract/wire/run.ts";
import { isoInstant } from "../../journal/instant.ts";
import { runStats } from "../../journal/ledger/run-stats.rules.ts";
import type { Clock } from "../../platform/clock.ts";
import { boundedCount } from "../../schedule/query.ts";
import { type Answer, json, product, refusal } from "../answer.ts";
import { activityRows, jobRunRows, resourceRows } from "../bounds.ts";
import { firstGiven, type Route } from "../call.ts";
import { countDoc, jsonDoc, noSuchJob } from "../docs.ts";
import { inTurns } from "../in-turns.ts";
import { jobPayload } from "../payloads/job.ts";
import { activityProduct, jobsProduct } from "../payloads/products.ts";
import { instantOrNull, runPayload, statsPayload } from "../payloads/run.ts";
import { quoted } from "../quoted.ts";
import type { Params } from "../router.ts";
import { sharedProduct } from "../shared-product.ts";

/** A period of sampling that is shown for jobs that are not monitored, as it has always been. */
const USUAL_INTERVAL_SECONDS = 1;

/** Jobs and what became of their runs (http 7.2). */
export function jobRoutes({ control, clock }: { readonly control: ControlPlane; readonly clock: Clock }): Route[] {
  const revision = (): number => control.revision;
  const jobs = sharedProduct(clock, revision, () => inTurns(clock, jobsProduct(control, clock)));
  const activities = sharedProduct(clock, revision, () => inTurns(clock, activityProduct(control, activityRows.max)));

  const ofJob = (params: Params, answer: (view: JobView) => Answer): Answer => {
    const name = params.name ?? "";
    const view = control.job(name);
    return view === null ? jobNotFound(name) : answer(view);
  };

  return [
    {
      method: "GET",
      path: "/jobs",
      scope: "view",
      doc: {
        operationId: "listJobs",
        tag: "jobs",
        summary: "All jobs, in the order of the configuration",
        conditional: true,
        answers: { 200: jsonDoc("The jobs.", z.array(job)) },
      },
      handle() {
        const shared = jobs();
        return shared instanceof Promise ? shared.then((built) => product(built)) : product(shared);
      },
    },
    {
      method: "GET",
      path: "/jobs/{name}",
      scope: "view",
      doc: {
        operationId: "getJob",
        tag: "jobs",
        summary: "One job",
        answers: { 200: jsonDoc("The job.", job), 404: noSuchJob },
      },
      handle: ({ params }) => ofJob(params, (view) => json(jobPayload(view, clock.wallNow()))),
    },
    {
      method: "GET",
      path: "/jobs/{name}/runs",
      scope: "view",
      doc: {
        operationId: "getJobRuns",
        tag: "jobs",
        summary: "The newest runs of a job, oldest first, and figures over all that are kept",
        query: { limit: countDoc("How many of the newest runs to show.", jobRunRows) },
        answers: { 200: jsonDoc("Runs and figures.", jobRuns), 404: noSuchJob },
      },
      handle: ({ params, query }) =>
        ofJob(params, ({ config, rows }) => {
          const limit = boundedCount(query.get("limit"), jobRunRows);
          const runs = rows.slice(-limit).map((row) => runPayload(row));
          return json({ name: config.name, runs, stats: statsPayload(runStats(rows)) });
        }),
    },
    {
      method: "GET",
      path: "/activity",
      scope: "view",
      doc: {
        operationId: "getActivity",
        tag: "jobs",
        summary: "When every job ran, oldest first",
        query: { limit: countDoc("How many of the newest runs of each job to show.", activityRows) },
        conditional: true,
        answers: { 200: jsonDoc("Runs by job.", activity) },
      },
      async handle({ query }) {
        const limit = boundedCount(query.get("limit"), activityRows);
        return product(
          limit === activityRows.otherwise ? await activities() : await inTurns(clock, activityProduct(control, limit)),
        );
      },
    },
    {
      method: "GET",
      path: "/jobs/{name}/trends",
      scope: "view",
      doc: {
        operationId: "getJobTrends",
        tag: "jobs",
        summary: "Figures of a job over the last hour, day, week, month and all that is kept",
        answers: { 200: jsonDoc("Figures by window.", trends), 404: noSuchJob },
      },
      async handle({ params: { name = "" } }) {
        const found = await control.trends(name);
        if (found === null) return jobNotFound(name);
        const { source, generatedAt, windows } = found;
        const shown = Object.fromEntries(
          Object.entries(windows).map(([window, stats]) => [window, statsPayload(stats)]),
        );
        return json({ name, source, generated_at: isoInstant(generatedAt), windows: shown });
      },
    },
    {
      method: "GET",
      path: "/jobs/{name}/resources",
      scope: "view",
      doc: {
        operationId: "getJobResources",
        tag: "jobs",
        summary: "What the monitored runs of a job use and used",
        query: {
          limit: countDoc("How many of the newest monitored runs to show.", resourceRows),
          runs: { type: "integer", about: "Older name of `limit`." },
        },
        answers: { 200: jsonDoc("Curves of live and finished runs.", jobResources), 404: noSuchJob },
      },
      handle: ({ params, query }) =>
        ofJob(params, (view) =>
          json(resourcesPayload(view, boundedCount(firstGiven(query, "limit", "runs"), resourceRows))),
        ),
    },
  ];
}

export function jobNotFound(name: string): Answer {
  return refusal(404, `job ${quoted(name)} not found`);
}

function resourcesPayload({ config, instances, rows }: JobView, limit: number): JobResources {
  const monitor = config.launch.monitorResources;
  const monitored = rows.filter((row) => row.kind === "ran" && row.resources !== null);
  return {
    name: config.name,
    monitored: monitor !== null,
    interval: monitor?.intervalSeconds ?? USUAL_INTERVAL_SECONDS,
    live:
      monitor === null
        ? []
        : instances.map(({ startedAt, pid, resources }) => ({
            started_at: instantOrNull(startedAt),
            pid,
            current:
              resources === null
                ? null
                : {
                    cpu_seconds: resources.cpuSeconds,
                    cpu_percent: resources.cpuPercent,
                    rss_bytes: Math.round(resources.rssBytes),
                  },
            series: resources?.series ?? [],
          })),
    runs: limit === 0 ? [] : monitored.slice(-limit).map((row) => runPayload(row, "with series")),
  };
}

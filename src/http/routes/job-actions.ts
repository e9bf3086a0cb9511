import type { ControlPlane } from "../../contract/control-plane.ts";
import type { NotRunReason } from "../../contract/reason.ts";
import { cancelled, pausedAnswer, pauseRequest, queuedStart, resumeRequest, started } from "../../contract/wire/job.ts";
import type { Caller } from "../access.rules.ts";
import { type Answer, json, ownRefusal, refusal } from "../answer.ts";
import type { Route } from "../call.ts";
import { errorDoc, jsonDoc, noSuchJob } from "../docs.ts";
import { pausePayload } from "../payloads/job.ts";
import { quoted } from "../quoted.ts";
import { jobNotFound } from "./jobs.ts";

/** Starting, stopping and holding jobs (http 7.3). */
export function jobActionRoutes({ control }: { readonly control: ControlPlane }): Route[] {
  return [
    {
      method: "POST",
      path: "/jobs/{name}/start",
      scope: "control",
      doc: {
        operationId: "startJob",
        tag: "jobs",
        summary: "Start a run now, as a fire would",
        answers: {
          200: jsonDoc("Handed over; `launched` says whether a run began.", started),
          202: jsonDoc("It waits for its turn in its pool.", queuedStart),
          404: noSuchJob,
          409: errorDoc("The job is disabled, its pool refuses it, or the daemon is stopping."),
          503: errorDoc("The state of its pool cannot be read or written."),
        },
      },
      async handle({ params: { name = "" }, caller }) {
        const outcome = await control.startJob(name, labelOf(caller));
        switch (outcome.kind) {
          case "started":
            return json({ started: name, launched: true, runId: outcome.runId });
          case "queued":
            return json({ queued: true, queueId: outcome.queueId, pool: outcome.pool }, 202);
          case "refused":
            return startRefused(name, outcome.reason);
          case "unknown job":
            return jobNotFound(name);
        }
      },
    },
    {
      method: "POST",
      path: "/jobs/{name}/cancel",
      scope: "control",
      doc: {
        operationId: "cancelJob",
        tag: "jobs",
        summary: "Stop all live runs of a job on this node",
        answers: {
          200: jsonDoc("They are gone.", cancelled),
          404: noSuchJob,
          409: errorDoc("No run of the job lives."),
        },
      },
      async handle({ params: { name = "" } }) {
        const outcome = await control.cancelJob(name);
        switch (outcome.kind) {
          case "cancelled":
            return json({ cancelled: name, instances: outcome.instances });
          case "not running":
            return ownRefusal(409, `job ${quoted(name)} is not running`);
          case "unknown job":
            return jobNotFound(name);
        }
      },
    },
    {
      method: "POST",
      path: "/jobs/{name}/pause",
      scope: "control",
      doc: {
        operationId: "pauseJob",
        tag: "jobs",
        summary: "Hold a job for a while; a new pause takes the place of the old one",
        body: { shape: pauseRequest, required: false },
        answers: {
          200: jsonDoc("The pause in force.", pausedAnswer),
          400: errorDoc("The request makes no sense."),
          404: noSuchJob,
        },
      },
      async handle({ params: { name = "" }, fields }) {
        const outcome = await control.pauseJob(name, await fields(), "api");
        switch (outcome.kind) {
          case "paused":
            return json({ paused: pausePayload(outcome.pause) });
          case "invalid":
            return refusal(400, outcome.error);
          case "unknown job":
            return jobNotFound(name);
        }
      },
    },
    {
      method: "POST",
      path: "/jobs/{name}/resume",
      scope: "control",
      doc: {
        operationId: "resumeJob",
        tag: "jobs",
        summary: "End a pause at once; no error without one",
        body: { shape: resumeRequest, required: false },
        answers: {
          200: jsonDoc("The job is not paused.", pausedAnswer),
          400: errorDoc("The request makes no sense."),
          404: noSuchJob,
        },
      },
      async handle({ params: { name = "" }, fields }) {
        const outcome = await control.resumeJob(name, await fields(), "api");
        switch (outcome.kind) {
          case "resumed":
            return json({ paused: null });
          case "invalid":
            return refusal(400, outcome.error);
          case "unknown job":
            return jobNotFound(name);
        }
      },
    },
  ];
}

/** Who did it, for records; null where nobody said. */
export function labelOf(caller: Caller): string | null {
  return caller.kind === "token" ? caller.label : null;
}

/** What a fire would have passed over in silence is no error (http 7.3), but it is said. */
function startRefused(name: string, reason: NotRunReason): Answer {
  switch (reason.kind) {
    case "disabled":
      return ownRefusal(409, `job ${quoted(name)} is disabled`);
    case "removed":
      return jobNotFound(name);
    case "shutting-down":
      return ownRefusal(409, "daemon is shutting down");
    case "pool-refused":
      return ownRefusal(409, reason.why);
    case "pool-unavailable":
      return ownRefusal(503, "pool state is unavailable");
    default:
      return json({ started: name, launched: false, reason: reason.kind });
  }
}

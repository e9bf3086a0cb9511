import type { ControlPlane } from "../../contract/control-plane.ts";
import type { Route } from "../call.ts";
import { noSuchJob, textDoc } from "../docs.ts";
import { endedOutput } from "../ended-output.ts";
import { jobNotFound } from "./jobs.ts";

/** The log of a job's newest run, as it grows (http 8). */
export function logRoutes({ control }: { readonly control: ControlPlane }): Route[] {
  return [
    {
      method: "GET",
      path: "/jobs/{name}/logs",
      scope: "view",
      doc: {
        operationId: "streamJobLogs",
        tag: "jobs",
        summary: "Output of the newest run: what is kept, then what comes",
        answers: { 200: textDoc("Events `line`, at last one `end`.", "text/event-stream"), 404: noSuchJob },
      },
      handle({ params: { name = "" } }) {
        const view = control.job(name);
        if (view === null) return jobNotFound(name);
        // A job that ran but of which nothing is kept ends at once, and says no more than that.
        const output = control.output(name)?.lines ?? (view.lastRow === null ? null : endedOutput([], 0));
        return { kind: "log", follow: { output, numbered: null } };
      },
    },
  ];
}

import type { ControlPlane } from "../../contract/control-plane.ts";
import type { RecoveryOutcome } from "../../contract/dag-control.ts";
import { rangeRecoveryRequest, recoveryAnswer, recoveryRequest } from "../../contract/wire/dags.ts";
import { type Answer, json, refusal } from "../answer.ts";
import type { Route } from "../call.ts";
import { errorDoc, jsonDoc } from "../docs.ts";

const answers = {
  200: jsonDoc("What would be done, with its token; or what was done.", recoveryAnswer),
  400: errorDoc("The request makes no sense."),
  409: errorDoc("The run or the plan does not allow it; the reason says why."),
  503: errorDoc("The store does not answer."),
};

/** New runs from finished ones (dags 15): previewed first, then carried out with the preview's token. */
export function dagRecoveryRoutes({ control }: { readonly control: ControlPlane }): Route[] {
  return [
    {
      method: "POST",
      path: "/dags/{name}/runs/{run_key}/recover",
      scope: "control",
      doc: {
        operationId: "recoverDagRun",
        tag: "dags",
        summary: "Run failed or chosen tasks of a finished run again, in a new run",
        body: { shape: recoveryRequest, required: false },
        answers,
      },
      handle: async ({ params: { name = "", run_key = "" }, fields }) =>
        recoveryAnswered(await control.dags?.recover(name, run_key, await fields())),
    },
    {
      method: "POST",
      path: "/dags/{name}/recover",
      scope: "control",
      doc: {
        operationId: "recoverDagRange",
        tag: "dags",
        summary: "The same for every date of a range whose latest run has failed",
        body: { shape: rangeRecoveryRequest, required: true },
        answers,
      },
      handle: async ({ params: { name = "" }, fields }) =>
        recoveryAnswered(await control.dags?.recoverRange(name, await fields())),
    },
  ];
}

function recoveryAnswered(outcome: RecoveryOutcome | undefined): Answer {
  switch (outcome?.kind) {
    case undefined:
      return refusal(409, "workflow not found");
    case "preview":
    case "accepted":
      return json(outcome.body);
    case "invalid":
      return refusal(400, outcome.error);
    case "refused":
      return refusal(409, outcome.error);
    case "unavailable":
      return refusal(503, "recovery state is unavailable");
  }
}

import type { ControlPlane } from "../../contract/control-plane.ts";
import { pools, queueEntry } from "../../contract/wire/pool.ts";
import { json, ownRefusal, refusal } from "../answer.ts";
import type { Route } from "../call.ts";
import { errorDoc, jsonDoc } from "../docs.ts";
import { entryPayload, poolsPayload } from "../payloads/pool.ts";
import { quoted } from "../quoted.ts";
import { labelOf } from "./job-actions.ts";

/** The queues of pools (running 19). */
export function poolRoutes({ control }: { readonly control: ControlPlane }): Route[] {
  return [
    {
      method: "GET",
      path: "/pools",
      scope: "view",
      doc: {
        operationId: "getPools",
        tag: "pools",
        summary: "The pools with what waits and runs in them, over all nodes",
        answers: {
          200: jsonDoc("By name; empty without pools.", pools),
          503: poolsSilent,
        },
      },
      async handle() {
        const found = (await control.pools?.list()) ?? [];
        return found === "unavailable" ? unavailable : json(poolsPayload(found));
      },
    },
    {
      method: "POST",
      path: "/pools/{name}/queue/{key}/cancel",
      scope: "control",
      doc: {
        operationId: "cancelQueued",
        tag: "pools",
        summary: "Take an entry out of a pool's queue; again it answers the same",
        answers: {
          200: jsonDoc("The entry, cancelled.", queueEntry),
          404: errorDoc("There is no such pool, or no such entry in it."),
          409: errorDoc("It runs or ran already, or the pool takes no change."),
          503: poolsSilent,
        },
      },
      async handle({ params: { name = "", key = "" }, caller }) {
        const outcome = (await control.pools?.cancel(name, key, labelOf(caller))) ?? noPools;
        switch (outcome.kind) {
          case "cancelled":
            return json(entryPayload(outcome.entry));
          case "unknown pool":
            return refusal(404, `pool ${quoted(name)} not found`);
          case "unknown entry":
            return refusal(404, `pool ${quoted(name)} has no queue entry ${quoted(key)}`);
          case "refused":
            return ownRefusal(409, outcome.why);
          case "unavailable":
            return unavailable;
        }
      },
    },
  ];
}

const noPools = { kind: "unknown pool" } as const;
const poolsSilent = errorDoc("The state of a pool cannot be read or written.");
const unavailable = ownRefusal(503, "pool state is unavailable");

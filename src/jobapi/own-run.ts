import { isoInZone, utcZone } from "../schedule/zone.ts";
import { compareCodePoints } from "../store/json.ts";
import { json, type Routes } from "./call.ts";
import { Refusal } from "./refusal.ts";
import { requiredText } from "./request-fields.ts";

/** What a run asks about itself: who it is, and its secrets, which nobody else is told (SEC-1). */
export function ownRunRoutes(host: string): Routes {
  return {
    "/v1/run": {
      method: "GET",
      async handle({ run: { runId, job, attempt, scheduledAt, defaultScope } }) {
        const slot = scheduledAt === null ? null : isoInZone(utcZone, scheduledAt);
        return json({ runId, job, attempt, scheduledAt: slot, host, defaultScope });
      },
    },
    "/v1/secret/get": {
      method: "GET",
      async handle({ run, query }) {
        const name = requiredText(query.get("name"), "name");
        const value = run.secrets.get(name);
        if (value === undefined) throw new Refusal(404, `secret '${name}' is not staged for this run`);
        return json({ value });
      },
    },
    "/v1/secret/list": {
      method: "GET",
      async handle({ run }) {
        return json({ names: [...run.secrets.keys()].sort(compareCodePoints) });
      },
    },
  };
}

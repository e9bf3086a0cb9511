import { z } from "zod";
import type { ControlPlane } from "../../contract/control-plane.ts";
import { stateDocuments, stateOff, stateOverview, stateRecords } from "../../contract/wire/state.ts";
import { boundedCount } from "../../schedule/query.ts";
import { json, refusal } from "../answer.ts";
import { stateRecordRows } from "../bounds.ts";
import type { Route } from "../call.ts";
import { countDoc, errorDoc, jsonDoc } from "../docs.ts";

const inspectable = /^(?:kv|cursor|idem)\/./;

/** A look into the durable store, metadata only (http 7.8). */
export function stateRoutes({ control }: { readonly control: ControlPlane }): Route[] {
  const noStore = errorDoc("No store is configured.");
  return [
    {
      method: "GET",
      path: "/state",
      scope: "view",
      doc: {
        operationId: "getState",
        tag: "state",
        summary: "What the durable store holds, and how it does",
        answers: {
          200: jsonDoc(
            "Counts, leases, figures; `enabled: false` without a store.",
            z.union([stateOverview, stateOff]),
          ),
        },
      },
      handle: async () => json((await control.state?.overview()) ?? { enabled: false }),
    },
    {
      method: "GET",
      path: "/state/documents",
      scope: "view",
      doc: {
        operationId: "getStateDocuments",
        tag: "state",
        summary: "Documents of a job, cursors and claims of its scope; values are described, not shown",
        query: { ns: { type: "string", about: "A kv/, cursor/ or idem/ namespace.", required: true } },
        answers: {
          200: jsonDoc("The documents.", stateDocuments),
          400: errorDoc("The namespace cannot be looked into."),
          404: noStore,
        },
      },
      async handle({ query }) {
        const { state } = control;
        if (state === null) return refusal(404, "state store is not configured");
        const namespace = query.get("ns") ?? "";
        if (!inspectable.test(namespace)) return refusal(400, "ns must be a kv/, cursor/ or idem/ namespace");
        return json({ namespace, documents: await state.documents(namespace) });
      },
    },
    {
      method: "GET",
      path: "/state/records",
      scope: "view",
      doc: {
        operationId: "getStateRecords",
        tag: "state",
        summary: "Records of a stream, newest first",
        query: {
          stream: { type: "string", about: "Name of the stream.", required: true },
          limit: countDoc("How many records to show.", stateRecordRows),
        },
        answers: {
          200: jsonDoc("The records.", stateRecords),
          400: errorDoc("No stream was named."),
          403: errorDoc("The stream holds output of jobs."),
          404: noStore,
        },
      },
      async handle({ query }) {
        const { state } = control;
        if (state === null) return refusal(404, "state store is not configured");
        const stream = query.get("stream") ?? "";
        if (stream === "") return refusal(400, "a stream is required");
        if (stream === "logs" || stream.startsWith("logs/"))
          return refusal(403, "log streams carry raw output and are not inspectable");
        return json({
          stream,
          records: await state.records(stream, boundedCount(query.get("limit"), stateRecordRows)),
        });
      },
    },
  ];
}

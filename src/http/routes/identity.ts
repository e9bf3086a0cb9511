import { z } from "zod";
import type { ControlPlane } from "../../contract/control-plane.ts";
import { version } from "../../contract/version.ts";
import { jobSetId, shuttingDown, summary, type WhoAmI, whoAmI } from "../../contract/wire/identity.ts";
import { statusRow } from "../../contract/wire/job.ts";
import type { Clock } from "../../platform/clock.ts";
import { asksForJson } from "../accept.rules.ts";
import { type Caller, scopesOf } from "../access.rules.ts";
import { json, ownRefusal, text } from "../answer.ts";
import type { Route } from "../call.ts";
import { errorDoc, jsonDoc, textDoc } from "../docs.ts";
import { inTurns } from "../in-turns.ts";
import { type StatusTexts, statusOf, summaryPayload } from "../payloads/overview.ts";

/** Who the daemon is, how it stands, and its end (http 7.1, 7.10). */
export function identityRoutes({ control, clock }: { readonly control: ControlPlane; readonly clock: Clock }): Route[] {
  return [
    {
      method: "GET",
      path: "/version",
      scope: "view",
      doc: {
        operationId: "getVersion",
        tag: "meta",
        summary: "The version of the daemon",
        answers: { 200: textDoc("The version alone.") },
      },
      handle: () => text(version),
    },
    {
      method: "GET",
      path: "/job-set-id",
      scope: "view",
      doc: {
        operationId: "getJobSetId",
        tag: "meta",
        summary: "Fingerprint of the configured jobs",
        answers: {
          200: {
            about: "Text, or JSON when asked for.",
            content: { "text/plain": "text", "application/json": jobSetId },
          },
        },
      },
      handle({ headers }) {
        const id = control.jobSetId();
        return asksForJson(headers.accept) ? json({ job_set_id: id, jobs: control.jobCount }) : text(id);
      },
    },
    {
      method: "GET",
      path: "/status",
      scope: "view",
      doc: {
        operationId: "getStatus",
        tag: "jobs",
        summary: "One line per job",
        answers: {
          200: {
            about: "Text, or JSON when asked for.",
            content: { "text/plain": "text", "application/json": z.array(statusRow) },
          },
        },
      },
      async handle({ headers }) {
        const rows = await inTurns(clock, statusRows(control, clock));
        return asksForJson(headers.accept)
          ? json(rows.map(({ row }) => row))
          : text(rows.map(({ line }) => line).join("\n"));
      },
    },
    {
      method: "GET",
      path: "/summary",
      scope: "view",
      doc: {
        operationId: "getSummary",
        tag: "meta",
        summary: "The daemon at a glance",
        answers: { 200: jsonDoc("Counts, the next fire, the cluster.", summary) },
      },
      handle: async () => json(await inTurns(clock, summaryPayload(control, clock.wallNow()))),
    },
    {
      method: "GET",
      path: "/whoami",
      scope: "view",
      doc: {
        operationId: "getWhoami",
        tag: "meta",
        summary: "What the presented credential may do",
        answers: { 200: jsonDoc("The caller.", whoAmI) },
      },
      handle: ({ caller }) => json(whoAmIPayload(caller, control.pairLinkBase())),
    },
    {
      method: "POST",
      path: "/shutdown",
      scope: "control",
      doc: {
        operationId: "shutdownDaemon",
        tag: "daemon",
        summary: "Stop after the running jobs have ended",
        answers: {
          200: jsonDoc("The graceful shutdown has begun.", shuttingDown),
          403: errorDoc("No token was presented, or one that may not."),
        },
      },
      handle({ caller }) {
        if (caller.kind !== "token") return ownRefusal(403, SHUTDOWN_NEEDS_TOKEN);
        control.shutDown(caller.label);
        return json({ shuttingDown: true });
      },
    },
  ];
}

const SHUTDOWN_NEEDS_TOKEN =
  "POST /shutdown requires bearer-token authentication: configure web.authToken (or a web.authTokens entry whose scopes include `control`) and present it on this request";

function* statusRows(control: ControlPlane, clock: Clock) {
  const rows: StatusTexts[] = [];
  for (const view of control.jobs()) {
    rows.push(statusOf(view, clock.wallNow()));
    yield;
  }
  return rows;
}

function whoAmIPayload(caller: Caller, pairLinkBase: string): WhoAmI {
  const scopes = scopesOf(caller);
  const label = caller.kind === "open" ? null : caller.kind === "anonymous" ? "anonymous" : caller.label;
  return { authenticated: caller.kind === "token", label, scopes, allScopes: scopes.length === 3, pairLinkBase };
}

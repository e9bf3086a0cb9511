import type { Logger } from "../contract/log.ts";
import type { ReportFacts, Reporting } from "../contract/report.ts";
import type { Clock } from "../platform/clock.ts";
import { type AlertState, type AlertTell, alertStep, quiet } from "../report/alert-policy.rules.ts";
import type { JobEffect } from "./job-state.ts";

type ReportEffect = Extract<JobEffect, { kind: "report" }>;
type FailureHook = "onFailure" | "onPermanentFailure";

/** How one job's failures stand with each block that is told of them; made anew it has heard of none. */
export type AlertStates = Map<FailureHook, AlertState>;

const failureHooks: readonly FailureHook[] = ["onFailure", "onPermanentFailure"];
const hookWords = { onFailure: "failure", onPermanentFailure: "permanent failure", onSuccess: "success" } as const;
const notes: Readonly<Record<AlertTell, "recovered" | "reminder" | null>> = {
  no: null,
  failure: null,
  reminder: "reminder",
  recovery: "recovered",
};

/**
 * Tells of a run through the report blocks that are to hear of it: the hook's own, if its alert policy lets it, and on a success those
 * whose policy asks for the recovery.
 *
 * @returns resolves when all reports have ended; null when nobody is told, so that the caller need not wait a turn
 */
export function tellOfRun(
  effect: ReportEffect,
  alerts: AlertStates,
  { clock, log, reporting }: { readonly clock: Clock; readonly log: Logger; readonly reporting: Reporting },
): Promise<unknown> | null {
  const { hook, run, result } = effect;
  const facts: Omit<Extract<ReportFacts, { kind: "run" }>, "hook" | "note"> = {
    kind: "run",
    job: run.job,
    runId: null,
    result,
  };
  const told: Promise<void>[] = [];
  const report = (
    block: Exclude<keyof typeof run.job.reports, "onLate">,
    note: "recovered" | "reminder" | null,
  ): void => {
    const config = run.job.reports[block];
    if (!reporting.wouldAct(config)) return;
    log.info(`Cron job ${run.job.name}: reporting ${note === "recovered" ? "recovery" : hookWords[block]}`);
    told.push(reporting.report(config, { ...facts, hook: block, note }));
  };
  const heard = (failureHook: FailureHook, kind: "failed" | "succeeded"): AlertTell => {
    const before = alerts.get(failureHook) ?? quiet;
    const { state, tell } = alertStep(before, run.job.reports[failureHook].alert, { kind, at: clock.wallNow() });
    if (state === quiet) alerts.delete(failureHook);
    else alerts.set(failureHook, state);
    return tell;
  };

  if (hook === "onSuccess") {
    report("onSuccess", null);
    for (const failureHook of failureHooks)
      if (heard(failureHook, "succeeded") === "recovery") report(failureHook, "recovered");
  } else {
    const tell = heard(hook, "failed");
    if (tell !== "no") report(hook, notes[tell]);
  }
  return told.length === 0 ? null : Promise.all(told);
}

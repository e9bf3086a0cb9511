import type { JobConfig } from "../config/model.ts";
import type { Events } from "../contract/events.ts";
import type { Launcher } from "../contract/launcher.ts";
import type { Logger } from "../contract/log.ts";
import type { Reporting } from "../contract/report.ts";
import type { RunId } from "../contract/run.ts";
import type { Clock } from "../platform/clock.ts";
import type { ActiveJob } from "./active-job.ts";
import type { Gates, SlotKeeper } from "./gates.ts";
import type { Refusal } from "./history.ts";
import type { CancelAnswer, JobEffect, StartAnswer } from "./job-state.ts";
import type { PoolGate } from "./pool-gate.ts";
import type { Punctuality } from "./punctuality.ts";
import type { Recorder } from "./recorder.ts";
import { tellOfRun } from "./telling.ts";

export interface PerformParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly launcher: Launcher;
  readonly reporting: Reporting;
  readonly events: Events;
  /** The retries of this job may be taken over by another node. */
  retryMoves(job: JobConfig): boolean;
  readonly newRunId: () => RunId;
  readonly gates: Gates;
  readonly pool: Pick<PoolGate, "enter" | "leave" | "endLadder" | "askLadder">;
  readonly slots: () => SlotKeeper | null;
  readonly recorder: Recorder;
  readonly punctuality: Punctuality;
  refuse(refusal: Refusal): void;
  answer(request: number, answer: StartAnswer | CancelAnswer): void;
  /** Something of the job has come to an end. */
  settled(own: ActiveJob): void;
}

/** Does what the rules of a job decided; what it leads to comes back to the job's controller as events. */
export function performer(parts: PerformParts): (own: ActiveJob, effect: JobEffect) => void {
  const { clock, log, launcher, events, gates, pool, slots, recorder, punctuality } = parts;

  const launch = (own: ActiveJob, { start, attempt }: Extract<JobEffect, { kind: "launch" }>): void => {
    const { runId, job, trigger } = start;
    const { controller, live } = own;
    const request = { runId, job, attempt, scheduledAt: own.lastSlot, injectedEnvironment: {} };
    const run = launcher.launch(request, (event) => {
      if (event.kind === "spawned") {
        const { pid, startedAt } = event;
        live.set(runId, { run, trigger, spawned: { pid, startedAt } });
        punctuality.handle(own.name, { kind: "started" });
        recorder.spawned(job, { runId, pid, startedAt });
        events.emit("run.spawned", { job, runId, pid, startedAt });
      }
      controller.handle({ ...event, runId });
      if (event.kind === "finished") live.delete(runId);
      parts.settled(own);
    });
    live.set(runId, { run, trigger, spawned: null });
    events.emit("run.launched", { job, runId, trigger, run });
  };

  /** The one place that says what a run became (DESIGN "one picture"). */
  const record = (own: ActiveJob, { run, result, row }: Extract<JobEffect, { kind: "record" }>): void => {
    const { job, runId, trigger } = run;
    const output = own.live.get(runId)?.run.output ?? null;
    if (row !== null) {
      own.history.add(row);
      own.lastOutput = output === null ? null : { runId, output };
    }
    if (row?.kind === "ran" && row.outcome === "success")
      punctuality.handle(own.name, { kind: "succeeded", at: row.finishedAt });
    events.emit("run.finished", { job, runId, trigger, result, row });
    recorder.ended(job, runId, row, output);
    releaseSlot(own, runId);
  };

  const releaseSlot = ({ name, leased }: ActiveJob, runId: RunId): void => {
    if (leased.delete(runId)) slots()?.release(name);
  };

  const arm = (own: ActiveJob, effect: Extract<JobEffect, { kind: "arm retry" }>): void => {
    const { ladderId, attempt, wait } = effect;
    const { controller, name } = own;
    const { job, stopping } = controller.state;
    const at = clock.wallNow();
    const { dueAt, delaySeconds } = wait;
    own.armedRetry = { ladderId, attempt, dueAt, delaySeconds };
    if (effect.record && job !== null) recorder.retryArmed(job, attempt, wait);
    events.emit("retry.armed", { job: name, attempt, dueAt, at });
    own.dropRetryTimer();
    if (stopping) return; // F-32
    own.dropRetryTimer = clock.after(dueAt - at, () => {
      controller.handle({ kind: "retry due", ladderId, runId: parts.newRunId() });
      parts.settled(own);
    });
  };

  const claim = (own: ActiveJob, { start: { runId, job } }: Extract<JobEffect, { kind: "claim slot" }>): void => {
    gates.slot(job, ({ fresh, ...slot }) => {
      if (slot.kind === "go" && slot.leased) own.leased.add(runId);
      if (fresh) void takeOver(own);
      own.controller.handle({ kind: "slot answered", runId, slot });
      parts.settled(own);
    });
  };

  /** A slot won afresh may have been another node's, whose run nobody closed (INF-6). */
  const takeOver = async ({ name, controller, history }: ActiveJob): Promise<void> => {
    const { job } = controller.state;
    const cut = job === null ? null : await recorder.journal?.inFlight.takeOver({ name, onMissed: job.onMissed });
    if (cut != null) history.add(cut.row);
  };

  const report = (own: ActiveJob, effect: Extract<JobEffect, { kind: "report" }>): void => {
    const done = (): void => {
      own.controller.handle({ kind: "reported", runId: effect.run.runId });
      parts.settled(own);
    };
    const telling = tellOfRun(effect, own.alerts, parts);
    if (telling === null) done();
    else void telling.then(done);
  };

  return (own, effect) => {
    const { name, controller, history, live } = own;
    const at = clock.wallNow();
    const answered: typeof controller.handle = (event) => {
      controller.handle(event);
      parts.settled(own);
    };
    switch (effect.kind) {
      case "log":
        log[effect.level](effect.message);
        return;
      case "ask past": {
        const { runId, job } = effect.wanted;
        const facts = () => {
          const { runs, lastVerdict } = controller.state;
          return { concurrencyPolicy: job.concurrencyPolicy, running: runs.size > 0, memory: lastVerdict };
        };
        gates.past(job, facts, (past) => answered({ kind: "past answered", runId, past }));
        return;
      }
      case "ask boot": {
        const { runId, job } = effect.wanted;
        gates.boot(job, (boot) => answered({ kind: "boot answered", runId, boot }));
        return;
      }
      case "ask retry": {
        const { runId, job } = effect.wanted;
        gates.retry(job, effect.attempt, parts.retryMoves(job), (retry) =>
          answered({ kind: "retry answered", runId, retry }),
        );
        return;
      }
      case "enter pool":
        pool.enter(own, effect);
        return;
      case "leave pool":
        pool.leave(own, effect.runId, effect.used);
        return;
      case "end pool ladder":
        pool.endLadder(effect.job);
        return;
      case "ask ladder":
        pool.askLadder(own, effect);
        return;
      case "claim slot":
        claim(own, effect);
        return;
      case "pursue slot": {
        const { holder } = effect;
        const { runId } = effect.start;
        const pursuit = slots()?.pursue(name) ?? Promise.resolve("gave up" as const);
        void pursuit.then((outcome) => answered({ kind: "pursued", runId, outcome, holder }));
        return;
      }
      case "release slot":
        releaseSlot(own, effect.runId);
        return;
      case "launch":
        launch(own, effect);
        return;
      case "stop":
        live.get(effect.runId)?.run.stop(effect.cause);
        return;
      case "arm retry":
        arm(own, effect);
        return;
      case "drop retry timer":
        own.dropRetryTimer();
        return;
      case "settle retry": {
        const { attempt, reason } = effect;
        if (reason !== "launched") recorder.retrySettled(name, attempt, reason);
        events.emit("retry.settled", { job: name, attempt, reason, at });
        return;
      }
      case "hand off retry": {
        const { job } = controller.state;
        if (job !== null) recorder.retryHandedOff(job, effect.attempt, effect.armedAt);
        return;
      }
      case "refuse":
        parts.refuse({ job: name, trigger: effect.trigger, slot: effect.slot, reason: effect.reason, at });
        return;
      case "record":
        record(own, effect);
        return;
      case "record row":
        history.add(effect.row);
        recorder.row(name, effect.row);
        own.lastOutput = null;
        return;
      case "permanent failure":
        events.emit("failure.permanent", { job: effect.run.job, runId: effect.run.runId, at });
        return;
      case "report":
        report(own, effect);
        return;
      case "answer start":
      case "answer cancel":
        parts.answer(effect.request, effect.answer);
        return;
    }
  };
}

import type { Logger } from "../../contract/log.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import { nextFire } from "../../schedule/fires.ts";
import { type Backend, onBackend } from "../backend.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { pauseRecord } from "../pauses/pause-record.ts";
import { presentStreams } from "../present-streams.ts";
import { jobStreams, keep } from "../streams.ts";
import {
  type BackfillEffect,
  type BackfillEvent,
  freshBackfill,
  isAtRest,
  isCovered,
  type Standing,
  stepBackfill,
} from "./backfill.rules.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { PauseWindow } from "./missed.rules.ts";
import type { CatchUpFacts, CatchUpWindow } from "./owed.rules.ts";

/** What the scheduler does for catch-up. */
export interface CatchUpHost {
  standing(job: string): Standing;
  /** Starts a run for a missed slot, without retries; answers whether a process is on its way. */
  launch(job: string, slot: EpochMs): Promise<boolean>;
  /**
   * Calls back once when the job has no live run here, at once if it has none.
   *
   * @returns stops waiting
   */
  whenIdle(job: string, call: () => void): () => void;
}

/** Runs that were missed, made up for (state 8). One controller per job takes its events in order, as the job controllers do. */
export interface CatchUp {
  /**
   * Looks at what was missed before this daemon: for every job that catches up, and every one that still has a checkpoint.
   *
   * @param now the instant from which the live scheduler serves the jobs; slots up to it count as missed
   */
  begin(jobs: readonly { readonly name: string; readonly catchesUp: boolean }[], now: EpochMs): void;
  /** A running daemon slept through slots of a job: from `first` on, before `before` (CAT-20). */
  gap(job: string, first: EpochMs, before: EpochMs): void;
  /** A run of the job has its process, whatever started it (CAT-22). */
  started(job: string, at: EpochMs): void;
  /**
   * Resolves when rows of new runs of the job may go to the ledger: before that, one would hide the slots that are still owed from a
   * start after a crash. Null: they may now. A catch-up that stops first never resolves it; the next start then owes those slots.
   */
  covered(job: string): Promise<void> | null;
  /** Ends every wait; checkpoints stay as they are. Nothing fires from here on, while runs may go on and their rows are still to come. */
  stop(): void;
}

interface Controller {
  handle(event: BackfillEvent): void;
  isCovered(): boolean;
  stop(): void;
}

/** What waits for a job to be covered. */
interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** @param parts.awaitsStart `begin` is still to come: until then no job that catches up is covered */
export function createCatchUp(parts: {
  readonly backend: Backend;
  readonly ledger: Pick<Ledger, "lastRunAt" | "lastCompletedAt">;
  readonly checkpoints: Checkpoints;
  readonly clock: Clock;
  readonly log: Logger;
  readonly host: CatchUpHost;
  readonly awaitsStart: boolean;
}): CatchUp {
  const { backend, ledger, checkpoints, clock, log, host } = parts;
  const controllers = new Map<string, Controller>();
  const gates = new Map<string, Gate>();
  let awaitsStart = parts.awaitsStart;
  /** Null: not yet. */
  let stoppedAt: EpochMs | null = null;
  const pins = new Map<string, Promise<void>>();

  const mayRecord = (job: string): boolean => {
    if (awaitsStart) return host.standing(job).policy === null;
    return controllers.get(job)?.isCovered() ?? true;
  };

  /** Lets go what waits for the job, if it is covered now. */
  const settle = (job: string): void => {
    const gate = gates.get(job);
    if (gate === undefined || stoppedAt !== null || !mayRecord(job)) return;
    gates.delete(job);
    gate.open();
  };

  const controllerOf = (job: string): Controller => {
    const known = controllers.get(job);
    if (known !== undefined) return known;
    let state = freshBackfill(job);
    let cancelWait = (): void => {};
    const inbox: BackfillEvent[] = [];

    const handle = (event: BackfillEvent): void => {
      inbox.push(event);
      if (inbox.length > 1) return; // the turn under way takes it
      for (let next: BackfillEvent | undefined = event; next !== undefined; inbox.shift(), next = inbox[0]) {
        if (stoppedAt !== null) continue;
        const turn = stepBackfill(state, next, host.standing(job));
        state = turn.state;
        turn.effects.forEach(perform);
      }
      if (isAtRest(state)) controllers.delete(job);
      settle(job);
    };

    const perform = (effect: BackfillEffect): void => {
      switch (effect.kind) {
        case "read facts":
          void factsOf(job, state.windows[0]).then((facts) => handle({ kind: "facts", facts }));
          return;
        case "write":
          void checkpoints
            .write(jobStreams.catchup(job), effect.checkpoint, effect.watermark)
            .then((landed) => handle({ kind: "written", landed }));
          return;
        case "wake":
          cancelWait = clock.after(effect.afterMs, () => handle({ kind: "woken" }));
          return;
        case "await idle":
          cancelWait = awaitIdle(job, effect.patienceMs, () => handle({ kind: "idle" }));
          return;
        case "launch":
          void host.launch(job, effect.slot).then((started) => handle({ kind: "launched", started }));
          return;
        case "log":
          log[effect.level](effect.message);
          return;
      }
    };

    const made: Controller = { handle, isCovered: () => isCovered(state), stop: () => cancelWait() };
    controllers.set(job, made);
    return made;
  };

  /** Calls back once, and never inside the turn that asks. */
  const awaitIdle = (job: string, patienceMs: number | null, call: () => void): (() => void) => {
    const cancels: (() => void)[] = [];
    const cancel = (): void => {
      for (const end of cancels) end();
    };
    const once = (): void => {
      cancel();
      call();
    };
    if (patienceMs !== null) cancels.push(clock.after(patienceMs, once));
    cancels.push(host.whenIdle(job, () => cancels.push(clock.after(0, once))));
    return cancel;
  };

  /** Null when any of it cannot be told: nothing is decided on half the facts. */
  const factsOf = async (job: string, window: CatchUpWindow | undefined): Promise<CatchUpFacts | null> => {
    // The live scheduler has fired since a start: its runs are no answer to what was missed before (CAT-11).
    const upTo = window?.kind === "start" ? window.now : undefined;
    const [run, completed, checkpoint, paused] = await Promise.all([
      ledger.lastRunAt(job, upTo),
      ledger.lastCompletedAt(job, upTo),
      checkpoints.open(jobStreams.catchup(job)),
      onBackend(backend, ({ records }) =>
        records.list(jobStreams.paused(job), { order: "newest first", limit: keep.paused, reading: "tolerant" }),
      ),
    ]);
    if (run.kind !== "done" || completed.kind !== "done" || checkpoint.kind !== "done" || paused.kind !== "done")
      return null;
    return {
      lastRunAt: run.value,
      lastCompletedAt: completed.value,
      open: checkpoint.value === null ? "none" : checkpoint.value.watermark,
      pause: pauseWindowOf(paused.value),
    };
  };

  /**
   * A run that ends while the daemon stops would hide, by the end it has, the slots that came due since: then a checkpoint remembers from
   * where they are owed. On a shared store others may have served them, and would serve them again.
   */
  const pinned = (job: string, since: EpochMs): Promise<void> | null => {
    const known = pins.get(job);
    if (known !== undefined || controllers.has(job)) return known ?? null; // what is open already remembers more
    const { policy, owner } = host.standing(job);
    if (policy === null || owner !== "here" || backend()?.facts.topology !== "single-node") return null;
    const missed = nextFire(policy.schedule, policy.zone, since);
    if (missed === null || missed > clock.wallNow()) return null;
    const pin = async (): Promise<void> => {
      const stream = jobStreams.catchup(job);
      const open = await checkpoints.open(stream);
      if (open.kind === "done" && open.value === null) await checkpoints.write(stream, "open", since);
    };
    const made = pin();
    pins.set(job, made);
    return made;
  };

  return {
    begin(jobs, now) {
      const window: CatchUpWindow = { kind: "start", now };
      const others = jobs.filter(({ catchesUp }) => !catchesUp);
      for (const { name, catchesUp } of jobs) if (catchesUp) controllerOf(name).handle({ kind: "window", window });
      awaitsStart = false;
      for (const job of [...gates.keys()]) settle(job);
      if (others.length === 0) return;
      void presentStreams(backend, "catchup/").then((present) => {
        // What cannot be listed is looked at by the next start: an old checkpoint of a job that catches up no more does no harm.
        if (present.kind !== "done") return;
        const known = new Set(present.value.names);
        for (const { name } of others) if (known.has(name)) controllerOf(name).handle({ kind: "window", window });
      });
    },
    gap(job, first, before) {
      const window: CatchUpWindow = { kind: "resume", after: first - 0.001, before, observed: clock.wallNow() };
      controllerOf(job).handle({ kind: "window", window });
    },
    started: (job, at) => controllers.get(job)?.handle({ kind: "started", at }),
    covered(job) {
      if (mayRecord(job)) return stoppedAt === null ? null : pinned(job, stoppedAt);
      const gate = gates.get(job) ?? closedGate();
      gates.set(job, gate);
      return gate.opened;
    },
    stop() {
      stoppedAt = clock.wallNow();
      for (const controller of controllers.values()) controller.stop();
    },
  };
}

function closedGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The stretch of the newest pause, cut short by a resume that followed it. */
function pauseWindowOf(
  newestFirst: readonly { readonly data: Parameters<typeof pauseRecord.decode>[0] }[],
): PauseWindow | null {
  let resumedAt = Number.POSITIVE_INFINITY;
  for (const { data } of newestFirst) {
    const found = pauseRecord.decode(data);
    if (found.kind === "damaged") continue;
    const record = found.value;
    if (record.kind === "paused") return { since: record.since, until: Math.min(record.until, resumedAt) };
    resumedAt = Math.min(resumedAt, record.at);
  }
  return null;
}

import { Worker } from "node:worker_threads";
import type { Logger } from "../../contract/log.ts";
import type { ResourceUsage } from "../../contract/run.ts";
import type { Clock } from "../../platform/clock.ts";
import { workerEntry } from "../../platform/worker-entry.ts";
import type { ExitTimes, ResourceMonitor } from "../companions.ts";
import { type Account, liveOf, newAccount, type ReadAt, usageOf, withReading } from "./account.rules.ts";
import { IDLE_THREAD_MS, LAST_READING_PATIENCE_MS, THREAD_DEATHS_MAX, THREAD_HEAP_MIB } from "./limits.ts";
import type { MonitorReport, MonitorRequest, Reading } from "./protocol.ts";

type Last = { readonly reading: Reading; readonly at: ReadAt } | null;

interface Watching {
  account: Account;
  /** Set while the watch is ending: takes the last reading, or null when there will be none. */
  onLast: ((last: Last) => void) | null;
}

/**
 * Watches runs from a thread of its own, which lives while something is watched and `IDLE_THREAD_MS` more.
 *
 * Trouble there (no process table, a thread that dies) costs runs their numbers, never their verdict. A thread that died is
 * replaced at the next watch, `THREAD_DEATHS_MAX` times.
 */
export function createResourceMonitor({
  clock,
  log,
}: {
  readonly clock: Clock;
  readonly log: Logger;
}): ResourceMonitor & { close(): Promise<void> } {
  const watches = new Map<number, Watching>();
  let lastId = 0;
  let thread: Worker | null = null;
  let available = true;
  let deaths = 0;
  let cancelIdle = (): void => undefined;

  const start = (): Worker => {
    const worker = new Worker(workerEntry("resource-monitor", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MIB },
    });
    worker.on("message", receive);
    worker.on("error", (error) => {
      deaths += 1;
      available = deaths < THREAD_DEATHS_MAX;
      const outlook = available ? "the next monitored run starts it anew" : "not starting it again";
      log.warning(`resource monitoring failed, runs now going have no more readings (${outlook}): ${error.message}`);
      forsake(worker);
    });
    worker.unref(); // a run keeps the daemon alive, our looking at it does not
    return worker;
  };

  /** No more readings for all that this thread watched. */
  const forsake = (worker: Worker): void => {
    if (thread !== worker) return;
    thread = null;
    for (const watching of watches.values()) watching.onLast?.(null);
    watches.clear();
  };

  const stop = async (): Promise<void> => {
    const worker = thread;
    if (worker === null) return;
    forsake(worker);
    await worker.terminate();
  };

  const receive = (report: MonitorReport): void => {
    if (report.kind === "unavailable") {
      available = false;
      log.info("monitorResources has no effect here: it reads Linux's /proc, and there is none");
      void stop();
    } else if (report.kind === "last") {
      watches.get(report.reading.id)?.onLast?.({ reading: report.reading, at: report });
    } else {
      for (const reading of report.readings) {
        const watching = watches.get(reading.id);
        if (watching !== undefined) watching.account = withReading(watching.account, reading, report);
      }
    }
  };

  const ask = (request: MonitorRequest): void => {
    cancelIdle();
    thread ??= start();
    thread.postMessage(request);
  };

  const lastReading = (id: number, watching: Watching, exitTimes: ExitTimes | null): Promise<Last> =>
    new Promise((resolve) => {
      const cancel = clock.after(LAST_READING_PATIENCE_MS, () => resolve(null));
      watching.onLast = (last) => {
        cancel();
        resolve(last);
      };
      ask({ kind: "end", id, exitTimes });
    });

  const endWatch = async (
    id: number,
    watching: Watching,
    exitTimes: ExitTimes | null,
  ): Promise<ResourceUsage | null> => {
    if (watches.has(id)) {
      const last = await lastReading(id, watching, exitTimes);
      if (last !== null) watching.account = withReading(watching.account, last.reading, last.at);
      watches.delete(id);
      if (watches.size === 0 && thread !== null) cancelIdle = clock.after(IDLE_THREAD_MS, () => void stop());
    }
    return usageOf(watching.account);
  };

  return {
    watch(pid, { intervalSeconds, historyPoints }) {
      const watching: Watching = { account: newAccount(historyPoints), onLast: null };
      lastId += 1;
      const id = lastId;
      if (available) {
        watches.set(id, watching);
        ask({ kind: "watch", id, pid, intervalMs: intervalSeconds * 1000 });
      }
      let ending: Promise<ResourceUsage | null> | null = null;
      return {
        now: () => liveOf(watching.account),
        end(exitTimes = null) {
          ending ??= endWatch(id, watching, exitTimes);
          return ending;
        },
      };
    },
    async close() {
      cancelIdle();
      await stop();
    },
  };
}

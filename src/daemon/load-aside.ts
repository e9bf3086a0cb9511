import { Worker } from "node:worker_threads";
import type { Config, JobConfig } from "../config/model.ts";
import { workerEntry } from "../platform/worker-entry.ts";
import { type ConfigMessage, type ConfigRequest, receivedDag, receivedJob } from "./config-messages.ts";

/** `jobSetId` comes along: hashing ten thousand jobs takes longer than a turn of the daemon's loop may. */
export type Loaded =
  | { readonly ok: true; readonly config: Config; readonly jobSetId: string }
  | { readonly ok: false; readonly detail: string };

/** Loads a configuration in a thread of its own. Never rejects: a thread that dies is a load that failed, and says how. */
export function loadAside(path: string): Promise<Loaded> {
  return new Promise((resolve) => {
    const worker = new Worker(workerEntry("config", import.meta.url), { workerData: path });
    const ask = (): void => worker.postMessage("next" satisfies ConfigRequest);
    const end = (loaded: Loaded): void => {
      resolve(loaded);
      void worker.terminate();
    };
    let frame: Extract<ConfigMessage, { kind: "frame" }> | null = null;
    const jobs: JobConfig[] = [];
    worker.on("message", (message: ConfigMessage) => {
      if (message.kind === "bad") {
        end({ ok: false, detail: message.detail });
        return;
      }
      if (message.kind === "frame") frame = message;
      else for (const job of message.jobs) jobs.push(receivedJob(job));
      if (frame === null || jobs.length < frame.jobs) {
        // In a turn of its own, so that what else is due comes in between.
        setImmediate(ask);
        return;
      }
      end({ ok: true, jobSetId: frame.jobSetId, config: { ...frame.config, jobs, dags: frame.dags.map(receivedDag) } });
    });
    worker.once("error", (error) =>
      end({ ok: false, detail: `the configuration could not be read: ${error.message}` }),
    );
    worker.once("exit", (code) =>
      end({ ok: false, detail: `the thread that reads the configuration ended with ${code}` }),
    );
    ask();
  });
}

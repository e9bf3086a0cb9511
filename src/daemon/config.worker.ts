/** Reads a configuration beside the daemon, so that however large it is no job is late for it, and hands it over in pieces. */
import { parentPort, workerData } from "node:worker_threads";
import { jobSetId } from "../config/fingerprint.ts";
import { problemsText } from "../config/problem.ts";
import { type ConfigMessage, sentDag, sentJob } from "./config-messages.ts";
import { loadWithTemplates } from "./load.ts";

/** Jobs per message: a few milliseconds of the receiver's time. */
const JOBS_PER_MESSAGE = 200;

function* messages(path: string): Generator<ConfigMessage> {
  const loaded = loadWithTemplates(path);
  if (!loaded.ok) {
    yield { kind: "bad", detail: problemsText(loaded.problems) };
    return;
  }
  const { jobs, dags, ...config } = loaded.config;
  yield { kind: "frame", config, dags: dags.map(sentDag), jobs: jobs.length, jobSetId: jobSetId(jobs) };
  for (let at = 0; at < jobs.length; at += JOBS_PER_MESSAGE) {
    yield { kind: "jobs", jobs: jobs.slice(at, at + JOBS_PER_MESSAGE).map(sentJob) };
  }
}

const left = messages(String(workerData));
parentPort?.on("message", () => {
  const next = left.next();
  if (!next.done) parentPort?.postMessage(next.value);
});

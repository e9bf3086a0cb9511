/** The sampling thread. It ends when it is terminated; where there is no process table it says so once. */
import { parentPort } from "node:worker_threads";
import { systemClock } from "../../platform/clock.ts";
import { openProcessTable } from "../../platform/process-table.ts";
import type { MonitorReport, MonitorRequest } from "./protocol.ts";
import { createSampler } from "./sampler.ts";

const table = openProcessTable();
const report = (message: MonitorReport): void => parentPort?.postMessage(message);

if (table === null) report({ kind: "unavailable" });
else {
  const sampler = createSampler(table, systemClock, report);
  parentPort?.on("message", (request: MonitorRequest) => sampler.handle(request));
}

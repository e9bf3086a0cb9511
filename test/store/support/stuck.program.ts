import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { systemClock } from "../../../src/platform/clock.ts";
import { exitNow } from "../../../src/platform/exit-now.ts";
import { openFilesystemStore } from "../../../src/store/filesystem/open.ts";

/** `node stuck.mjs <directory>`: writes into a store whose disk never comes back, closes the store and ends with code 7. */
const path = join(process.argv[2] ?? "", "store");
const entry = new URL("./test-store-support-troubled-lane-worker-ts.mjs", import.meta.url);
const opened = await openFilesystemStore({
  path,
  deploymentId: null,
  topology: "auto",
  maxOpsPerSecond: 0,
  clock: systemClock,
  log: { info: () => undefined, warning: () => undefined },
  spawn: (_, workerData) => new Worker(entry, { workerData }),
});
if (opened.kind !== "done") throw new Error(JSON.stringify(opened));
execFileSync("mkfifo", [`${path}.trouble.pipe`]);
writeFileSync(`${path}.trouble`, "stuck");
const written = await opened.value.records.append("runs/a", {}, { deadlineMs: 300 });
const closed = await opened.value.close(0);
if (written.kind === "unknown" && closed.threads === "hung") exitNow(7);

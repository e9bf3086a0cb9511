/**
 * The job API of one daemon, over the store in the directory named on the command line, for so many runs. Prints their environments as one
 * line of JSON, and serves until it is killed.
 */
import { randomBytes } from "node:crypto";
import { systemClock } from "../../../src/platform/clock.ts";
import { openFilesystemStore } from "../../../src/store/filesystem/open.ts";
import { aRun, startEndpoint } from "../../support/job-api.ts";

const [path = "", runs = "1"] = process.argv.slice(2);
const opened = await openFilesystemStore({
  path,
  deploymentId: null,
  topology: "auto",
  maxOpsPerSecond: 0,
  clock: systemClock,
  log: { info: () => undefined, warning: (message) => console.error(message) },
});
if (opened.kind !== "done") throw new Error(JSON.stringify(opened));
const api = await startEndpoint({
  store: opened.value,
  config: { lockTtlSeconds: 5 },
  host: `node-${randomBytes(2).toString("hex")}`,
});
const registered = await Promise.all(Array.from({ length: Number(runs) }, () => api.register(aRun())));
console.log(JSON.stringify(registered.map(({ environment }) => environment)));

import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { hostFacts } from "../../src/config/facts.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { JobConfig } from "../../src/config/model.ts";
import type { JobApi } from "../../src/jobapi/job-api.ts";
import { resolveSecret } from "../../src/report/secret.ts";
import { memoryMedium } from "../../src/store/memory/medium.ts";
import { ownDirectory } from "../store/support/temporary.ts";
import { aRun, startEndpoint } from "../support/job-api.ts";

const root = join(import.meta.dirname, "../..");

/** The example's job, with its files in `folder`. */
function exampleJob(folder: string): JobConfig {
  const loaded = loadConfig(join(root, "examples/job-state.yaml"), {
    ...hostFacts(Date.now()),
    environment: { EXAMPLE_DIR: folder },
  });
  const job = loaded.ok ? loaded.config.jobs[0] : undefined;
  if (job === undefined) throw new Error(JSON.stringify(loaded));
  return job;
}

/** Runs the job once as a daemon would, the program on its PATH; answers with its output, and that it succeeded. */
async function runOnce(api: JobApi, job: JobConfig, bin: string): Promise<string> {
  const run = aRun({ job });
  const { environment } = await api.register(run);
  const own = Object.fromEntries(job.launch.environment);
  const child = spawn("/bin/sh", ["-c", String(job.command)], {
    env: { PATH: `${bin}:${process.env.PATH}`, ...own, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once("close", resolve)),
  ]);
  await api.release(run.runId);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  return stdout;
}

test("the example exports only what is new, one at a time, and makes its digest once a day", async () => {
  const directory = ownDirectory();
  const folder = directory.path;
  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(join(root, "dist/cronstable.cjs"), join(bin, "cronstable"));
  const job = exampleJob(folder);
  const medium = memoryMedium();
  const nodes = [
    await startEndpoint({ medium, resolveSecret }),
    await startEndpoint({ medium, resolveSecret, host: "node-b" }),
  ];
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("no nodes");
  const exported = () => readFileSync(join(folder, "exported.csv"), "utf8");
  try {
    writeFileSync(join(folder, "orders.csv"), "1,shoes,89.50\n2,hat,25\n10,coat,140\n");
    expect(await runOnce(a, job, bin)).toMatch(/^exported up to order 10\n[0-9a-f]{64}\n$/);
    expect(exported()).toBe("1,shoes,89.50\n2,hat,25\n10,coat,140\n");

    expect(await runOnce(b, job, bin)).toBe("");
    appendFileSync(join(folder, "orders.csv"), "11,scarf,19\n");
    const both = await Promise.all([runOnce(a, job, bin), runOnce(b, job, bin)]);
    expect(both.join("").match(/exported up to order 11/g)).toHaveLength(1);
    expect(exported()).toBe("1,shoes,89.50\n2,hat,25\n10,coat,140\n11,scarf,19\n");

    expect(readFileSync(join(folder, "digests"), "utf8")).toBe("3 orders, uploaded with a token of 13 characters\n");
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
    directory.remove();
  }
});

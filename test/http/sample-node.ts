import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostFacts } from "../../src/config/facts.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/model.ts";
import { type PlayedRun, startWebNode, type WebNode } from "../support/web-node.ts";
import { sampleText } from "./samples.ts";

const START = "2026-11-30T08:47:27Z";

/** The configuration the samples were made with. */
export function sampleConfig(): Config {
  const folder = mkdtempSync(join(tmpdir(), "cronstable-samples-"));
  try {
    const path = join(folder, "config.yaml");
    writeFileSync(path, sampleText("config.yaml.txt").replace("/var/lib/cronstable", join(folder, "store")));
    const loaded = loadConfig(path, hostFacts(Date.parse(START)));
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return loaded.config;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a monitored run used. */
export const usage = {
  cpuUserSeconds: 0.01,
  cpuSystemSeconds: 0.02,
  maxRssBytes: 3_473_408,
  samples: 3,
  series: [[1796028448.91, 0.5, 1_671_168] as const],
};

/** The state of affairs the samples show: jobs that ran, fail, retry, run on, are paused, late. */
export async function sampleNode(): Promise<WebNode> {
  const config = sampleConfig();
  const node = await startWebNode({ at: START, config, web: { ...config.web, listen: ["http://127.0.0.1:0"] } });
  await node.post("/jobs/paused-job/pause", { durationSeconds: 7200, note: "upstream migration", by: "alice" });
  node.run("long-running").print("stdout", "line 1");
  await node.post("/jobs/retry-forever/start");
  const over = new Set<PlayedRun>();
  for (let second = 0; second < 245; second += 5) {
    await node.until(new Date(Date.parse(START) + second * 1000).toISOString());
    for (const run of node.runs) if (!over.has(run)) finish(run);
    for (const run of node.runs) over.add(run);
  }
  node.run("long-running").use({ cpuPercent: 0.5, cpuSeconds: 0.07, rssBytes: 3_473_408, series: usage.series });
  return node;
}

function finish(run: PlayedRun): void {
  switch (run.job) {
    case "long-running":
      return;
    case "ok-second":
      run.exit(0, { resources: usage });
      return;
    case "fails-exit3":
      run.print("stderr", "bad thing");
      run.print("stdout", "some output");
      run.exit(3);
      return;
    case "fails-retrying":
      run.exit(7);
      return;
    case "retry-forever":
      run.exit(8);
      return;
    case "not-found":
      run.exit(127, { launchError: "no such program", failReason: "command could not be launched" });
      return;
    case "times-out":
      run.exit(-100, { stopped: "timeout", failReason: "timed out" });
      return;
    case "sla-late":
      run.exit(1);
      return;
    default:
      run.exit(0);
      return;
  }
}

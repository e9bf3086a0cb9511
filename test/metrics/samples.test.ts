import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sampleNode, usage } from "../http/sample-node.ts";
import { sampleText } from "../http/samples.ts";
import type { WebNode } from "../support/web-node.ts";

let node: WebNode;
beforeAll(async () => {
  node = await sampleNode();
  // The samples' metrics were taken later: the long run had been cancelled, and a run too short to be sampled had ended.
  const cancelling = node.control.cancelJob("long-running");
  node.run("long-running").exit(-15, { resources: usage });
  await cancelling;
  await node.until("2026-11-30T08:51:35Z");
  node.run("ok-second").exit(0);
});
afterAll(() => node.stop());

const openMetrics = { accept: "application/openmetrics-text; version=1.0.0" };

/** Families that other parts of the daemon feed, and ours beyond the sample's. */
const elsewhere = /^cronstable_(?:dag|state|cluster_(?!enabled))/;
const beyond = new Set(["cronstable_job_refused_starts_total", "cronstable_job_refused_starts"]);

test.each(["metrics.txt", "metrics.openmetrics.txt"])(
  "%s: same families, types and order (acceptance 31)",
  async (name) => {
    const { text } = await node.get("/metrics", name === "metrics.txt" ? {} : openMetrics);
    const families = (exposition: string): string[] =>
      [...exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
        .filter(([, family = ""]) => !elsewhere.test(family) && !beyond.has(family))
        .map(([, family, type]) => `${family} ${type}`);
    expect(families(text)).toEqual(families(sampleText(name)));
    expect(text.endsWith("# EOF\n")).toBe(name !== "metrics.txt");
  },
);

test("same series, in the same order (acceptance 31)", async () => {
  const { text } = await node.get("/metrics");
  const series = (exposition: string): string[] =>
    exposition
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#") && !elsewhere.test(line))
      .map((line) => line.slice(0, line.lastIndexOf(" ")).replace(/(version|job_set_id)="[^"]*"/, '$1=""'));
  const ours = series(text).filter((line) => !beyond.has(line.split("{")[0] ?? ""));
  expect(ours).toEqual(series(sampleText("metrics.txt")));
});

test("both forms carry the same samples (acceptance 31)", async () => {
  const samples = (exposition: string): string[] => exposition.split("\n").filter((line) => !line.startsWith("#"));
  expect(samples((await node.get("/metrics", openMetrics)).text)).toEqual(samples((await node.get("/metrics")).text));
});

const promtool = spawnSync("promtool", ["--version"]).status === 0;

test.skipIf(!promtool)(
  "promtool has nothing to say (skipped where Debian's package prometheus is not installed)",
  async () => {
    const { bytes } = await node.get("/metrics");
    const checked = spawnSync("promtool", ["check", "metrics"], { input: bytes, encoding: "utf8" });
    expect(checked.stdout + checked.stderr).toBe("");
    expect(checked.status).toBe(0);
  },
);

import { expect, test } from "vitest";
import type { NodeUsage } from "../../src/platform/node-usage.ts";
import { startWebNode } from "../support/web-node.ts";
import { missing, sample } from "./samples.ts";

const usage: NodeUsage = {
  cpuPercent: 5.66,
  cpuCount: 2,
  memoryPercent: 3.01,
  memoryUsedBytes: 760_504_320,
  memoryTotalBytes: 25_276_059_648,
  processRssBytes: 58_793_984,
  processCpuPercent: 0.49,
};

test("how busy the node is, and was", async () => {
  let now: NodeUsage | null = usage;
  const node = await startWebNode({
    at: "2026-11-30T08:49:05Z",
    parts: { nodeUsage: () => now },
    web: { nodeHistory: { intervalSeconds: 2, points: 10 } },
  });
  const shown = (await node.get("/node")).json();
  expect(missing(sample("node.json"), shown)).toEqual([]);
  expect(shown.resources).toMatchObject({ cpu_percent: 5.7, mem_percent: 3, proc_cpu_percent: 0.5 });
  expect((await node.get("/node/history")).json()).toEqual({
    node_name: "node-a",
    enabled: true,
    interval: 2,
    points: [],
  });
  await node.until("2026-11-30T08:49:30Z");
  const { points } = (await node.get("/node/history")).json();
  expect(points).toHaveLength(10);
  expect(points.at(-1)).toEqual([Date.parse("2026-11-30T08:49:29Z") / 1000, 5.7, 3]);
  now = { ...usage, processRssBytes: null, processCpuPercent: null };
  expect(Object.keys((await node.get("/node")).json().resources)).toHaveLength(5);
  now = null;
  expect((await node.get("/node")).json()).toEqual({ node_name: "node-a", resources: null });
  await node.stop();
  expect(node.clock.pending).toBeLessThanOrEqual(1); // the firing loop's own
});

test("without sampling there is no history", async () => {
  const node = await startWebNode({});
  expect((await node.get("/node/history")).json()).toEqual({
    node_name: "node-a",
    enabled: false,
    interval: null,
    points: [],
  });
  expect((await node.get("/cluster")).json()).toEqual(sample("cluster.disabled.json"));
  expect((await node.get("/fleet")).json()).toEqual(sample("fleet.disabled.json"));
  await node.stop();
});

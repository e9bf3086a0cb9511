import { afterEach, beforeEach, expect, test } from "vitest";
import type { ClusterFigures } from "../../src/contract/cluster-control.ts";
import { noCounters } from "../../src/journal/counters/counters.rules.ts";
import { families } from "../../src/metrics/families.ts";
import { sampleText } from "../http/samples.ts";
import { jobConfig } from "../support/job-config.ts";
import { configOf } from "../support/node.ts";
import { startWebNode, type WebNode } from "../support/web-node.ts";

const retry = { maximumRetries: 1, initialDelaySeconds: 5, maximumDelaySeconds: 5, backoffMultiplier: 1 };
const jobs = [
  jobConfig({ name: "b" }),
  jobConfig({ name: "a", retry }),
  jobConfig({ name: "forbid", concurrencyPolicy: "Forbid" }),
];
let node: WebNode;
beforeEach(async () => {
  node = await startWebNode({ jobs, at: "2026-11-30T08:49:05Z" });
});
afterEach(() => node.stop());

/** The values of the series whose names begin like that. */
async function series(prefix: string, by: WebNode = node): Promise<Record<string, number>> {
  const { text } = await by.get("/metrics");
  const lines = text.split("\n").filter((line) => line.startsWith(prefix));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

test("every status is there from the start, and counters agree with the history (acceptance 32)", async () => {
  expect(await series('cronstable_job_runs_total{job_name="a"')).toEqual({
    'cronstable_job_runs_total{job_name="a",status="success"}': 0,
    'cronstable_job_runs_total{job_name="a",status="failure"}': 0,
    'cronstable_job_runs_total{job_name="a",status="cancelled"}': 0,
    'cronstable_job_runs_total{job_name="a",status="skipped"}': 0,
  });
  await node.until("2026-11-30T08:50:00Z");
  node.run("a").exit(1);
  await node.until("2026-11-30T08:50:06Z");
  node.run("a").exit(127, { launchError: "no such program" });
  await node.until("2026-11-30T08:50:07Z");
  await node.post("/jobs/a/pause");
  await node.until("2026-11-30T08:51:01Z");
  expect(Object.values(await series('cronstable_job_runs_total{job_name="a"'))).toEqual([0, 2, 0, 1]);
  for (const [name, value] of [
    ["retries", 1],
    ["permanent_failures", 1],
    ["start_failures", 1],
  ] as const)
    expect(await series(`cronstable_job_${name}_total{job_name="a"`)).toEqual({
      [`cronstable_job_${name}_total{job_name="a"}`]: value,
    });
  const { stats } = (await node.get("/jobs/a/runs")).json();
  expect([stats.total, stats.failure]).toEqual([3, 2]);
  expect((await series("cronstable_job_last_run_success"))['cronstable_job_last_run_success{job_name="a"}']).toBe(0);
});

test("durations fall into buckets that add up", async () => {
  for (const seconds of [0.05, 0.5, 30]) {
    await node.post("/jobs/b/start");
    await node.until(new Date(node.clock.wallNow() + seconds * 1000).toISOString());
    node.run("b").exit(0);
  }
  const buckets = await series('cronstable_job_duration_seconds_bucket{job_name="b"');
  expect(Object.values(buckets)).toEqual([1, 2, 2, 2, 2, 3, 3, 3, 3, 3]);
  expect(Object.keys(buckets).map((name) => /le="([^"]+)"/.exec(name)?.[1])).toEqual([
    "0.1",
    "0.5",
    "1.0",
    "5.0",
    "15.0",
    "60.0",
    "300.0",
    "900.0",
    "3600.0",
    "+Inf",
  ]);
  expect(await series('cronstable_job_duration_seconds_sum{job_name="b"')).toEqual({
    'cronstable_job_duration_seconds_sum{job_name="b"}': 30.55,
  });
  node.metrics.setDurationBuckets([2, 10.5]);
  await node.post("/jobs/b/pause"); // so that nothing older is shown
  expect(Object.values(await series('cronstable_job_duration_seconds_bucket{job_name="b"'))).toEqual([0, 0, 0]);
  expect(
    (await series('cronstable_job_runs_total{job_name="b"'))[
      'cronstable_job_runs_total{job_name="b",status="success"}'
    ],
  ).toBe(3);
});

test("starts that did not happen count by their reason", async () => {
  await node.post("/jobs/forbid/start");
  await node.until("2026-11-30T08:51:01Z");
  expect(await series("cronstable_job_refused_starts_total")).toEqual({
    'cronstable_job_refused_starts_total{job_name="forbid",reason="forbidden"}': 2,
  });
});

test("a removed job's series go, but not while it runs; a job of another name is a new one (acceptance 32)", async () => {
  await node.post("/jobs/a/start");
  await node.post("/jobs/b/start");
  node.run("b").exit(0);
  await node.apply(configOf([jobConfig({ name: "c" })]));
  const jobsCounted = async (): Promise<string[]> =>
    Object.keys(await series("cronstable_job_retries_total")).map((name) => /"(.)"/.exec(name)?.[1] ?? "");
  expect(await jobsCounted()).toEqual(["a", "c"]);
  expect(Object.keys(await series("cronstable_job_enabled"))).toEqual(['cronstable_job_enabled{job_name="c"}']);
  node.run("a").exit(0);
  expect(await series('cronstable_job_runs_total{job_name="a",status="success"')).toEqual({
    'cronstable_job_runs_total{job_name="a",status="success"}': 1,
  });
  await node.apply(configOf([jobConfig({ name: "c" })]));
  expect(await jobsCounted()).toEqual(["c"]);
});

test("a configuration that is refused shows, and a good one again (acceptance 33)", async () => {
  const shown = async () => Object.values(await series("cronstable_config"));
  const first = Date.parse("2026-11-30T08:49:05Z") / 1000;
  expect(await shown()).toEqual([1, first]);
  node.events.emit("config.refused", { at: node.clock.wallNow() });
  await node.until("2026-11-30T08:49:10Z");
  expect(await shown()).toEqual([0, first]);
  await node.apply(configOf(jobs));
  expect(await shown()).toEqual([1, first + 5]);
});

test("what an earlier process had counted is added, for jobs that are still there", async () => {
  await node.post("/jobs/b/start");
  node.run("b").exit(0);
  const counted = node.tally.snapshot().jobs.get("b");
  expect(counted).toMatchObject({
    runs: { success: 1 },
    retries: 0,
    durations: { count: 1, bucketCounts: [1, 1, 1, 1, 1, 1, 1, 1, 1] },
    lastSuccessAt: node.clock.wallNow(),
  });
  if (counted === undefined) return;
  const before = {
    ...counted,
    runs: { success: 5, unknown: 2 },
    retries: 7,
    lastSuccessAt: 1,
    maxRssBytes: 99,
    cpuRuns: 1,
    durations: { sumSeconds: 2, count: 5, bucketCounts: [0, 1, 2, 3, 4, 5, 5, 5, 5] },
  };
  node.tally.seed(
    {
      bounds: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600],
      jobs: new Map([
        ["b", before],
        ["gone", before],
      ]),
    },
    (job) => job !== "gone",
  );
  await node.post("/jobs/b/resume");
  expect(
    (await series('cronstable_job_runs_total{job_name="b"'))[
      'cronstable_job_runs_total{job_name="b",status="success"}'
    ],
  ).toBe(6);
  expect(await series("cronstable_job_retries_total")).toMatchObject({
    'cronstable_job_retries_total{job_name="b"}': 7,
  });
  expect(await series("cronstable_job_last_success")).toEqual({
    'cronstable_job_last_success_timestamp_seconds{job_name="b"}': node.clock.wallNow() / 1000,
  });
  expect(await series("cronstable_job_peak_rss")).toEqual({ 'cronstable_job_peak_rss_bytes{job_name="b"}': 99 });
  expect(Object.values(await series('cronstable_job_duration_seconds_bucket{job_name="b"'))).toEqual([
    1, 2, 3, 4, 5, 6, 6, 6, 6, 6,
  ]);
  expect((await node.get("/metrics")).text).not.toContain("gone");
});

test("histograms of other bounds wait until those bounds are set (acceptance 32)", async () => {
  const counters = { ...noCounters([1, 2]), durations: { sumSeconds: 3, count: 2, bucketCounts: [1, 2] } };
  node.tally.seed({ bounds: [1, 2], jobs: new Map([["a", counters]]) }, () => true);
  expect(Object.values(await series('cronstable_job_duration_seconds_count{job_name="a"'))).toEqual([0]);
  node.metrics.setDurationBuckets([1, 2]);
  await node.post("/jobs/a/resume");
  expect(Object.values(await series('cronstable_job_duration_seconds_bucket{job_name="a"'))).toEqual([1, 2, 2]);
});

test("lateness shows for the checks a job has, and counts each time it begins", async () => {
  const sla = { maxTimeSinceSuccessSeconds: 90, lateAfterSeconds: null, maxRuntimeSeconds: null };
  const late = await startWebNode({ jobs: [jobConfig({ name: "s", sla })], at: "2026-11-30T08:49:05Z" });
  const shown = async () =>
    [await series("cronstable_job_late", late), await series("cronstable_job_sla_breaches", late)].flatMap((found) =>
      Object.values(found),
    );
  expect(await shown()).toEqual([0, 0]);
  await late.until("2026-11-30T08:51:01Z");
  expect(await shown()).toEqual([1, 1]);
  expect((await late.get("/jobs/s")).json().sla).toMatchObject({
    state: "late",
    breaches: [{ check: "maxTimeSinceSuccess", threshold_seconds: 90 }],
  });
  await late.post("/jobs/s/pause");
  expect(await shown()).toEqual([0, 1]);
  await late.stop();
});

test("names are escaped as the format says; a carriage return has no escape and stays", async () => {
  const odd = await startWebNode({ jobs: [jobConfig({ name: 'a\\b"c\nd\re', scheduleText: '"q"' })] });
  const { text } = await odd.get("/metrics");
  expect(text).toContain('cronstable_job_enabled{job_name="a\\\\b\\"c\\nd\re"} 1');
  expect(text).toContain('schedule="\\"q\\""');
  await odd.stop();
});

test("a store that is up, one whose numbers cannot be had, and none (acceptance 35, MET-2)", async () => {
  const lanes = { bulk: { inflight: 1, capacity: 16, peak: 3 }, lease: { inflight: 0, capacity: 8, peak: 1 } };
  const counters = {
    operations: { append: { finished: 3, errors: 1, seconds: 0.5 } },
    lockAcquisitions: 2,
    lockWaitSeconds: 0.25,
    throttledOperations: 0,
    throttleWaitSeconds: 0,
    shedWrites: 0,
    lanes,
  };
  const facts = {
    backend: "filesystem",
    location: "/x",
    namespace: "n",
    topology: "single-node",
    sharedLocking: false,
  } as const;
  let found: () => { facts: typeof facts; counters: typeof counters } | null = () => ({ facts, counters });
  const stored = await startWebNode({
    jobs,
    metricsParts: { store: () => found(), droppedWrites: () => ({ pause: 2, retry: 0 }) },
  });
  expect(await series("cronstable_state", stored)).toEqual({
    'cronstable_state_dropped_writes_total{kind="pause"}': 2,
    'cronstable_state_info{backend="filesystem",topology="single-node"}': 1,
    'cronstable_state_ops_total{op="append"}': 3,
    'cronstable_state_op_errors_total{op="append"}': 1,
    'cronstable_state_op_seconds_total{op="append"}': 0.5,
    cronstable_state_lock_acquisitions_total: 2,
    cronstable_state_lock_wait_seconds_total: 0.25,
    'cronstable_state_workers_inflight{lane="bulk"}': 1,
    'cronstable_state_workers_inflight{lane="lease"}': 0,
    'cronstable_state_workers_capacity{lane="bulk"}': 16,
    'cronstable_state_workers_capacity{lane="lease"}': 8,
    'cronstable_state_workers_peak{lane="bulk"}': 3,
    'cronstable_state_workers_peak{lane="lease"}': 1,
  });
  found = () => {
    throw new Error("broken");
  };
  await stored.post("/jobs/a/resume");
  expect(Object.keys(await series("cronstable_state", stored))).toEqual([
    'cronstable_state_dropped_writes_total{kind="pause"}',
  ]);
  expect(Object.keys(await series("cronstable_job_enabled", stored))).toHaveLength(3);
  await stored.stop();
});

test("the cluster's families are those of the sample", async () => {
  const figures: ClusterFigures = {
    backend: "gossip",
    nodeName: "node-a",
    distribution: "single-leader",
    size: 3,
    quorum: 2,
    quorate: true,
    isLeader: true,
    electLeader: true,
    leader: "node-a",
    conflicts: { nodeName: false, size: false, policy: false },
    peers: { unknown: 0, self: 0, agreed: 1, syncing: 0, drifted: 0, unreachable: 1, untrusted: 0, conflict: 0 },
  };
  let told: ClusterFigures | null = figures;
  const cluster = {
    view: () => ({ enabled: true, peers: [] }),
    fleet: () => ({ enabled: false, nodes: [] }),
    figures: () => told,
  };
  const clustered = await startWebNode({ jobs, parts: { cluster: () => cluster } });
  clustered.metrics.minute();
  const lines = (text: string) => text.split("\n").filter((line) => line.startsWith("cronstable_cluster"));
  expect(lines((await clustered.get("/metrics")).text)).toEqual(lines(sampleText("metrics.cluster.txt")));
  told = null;
  clustered.metrics.minute();
  await clustered.post("/jobs/a/resume");
  expect(lines((await clustered.get("/metrics")).text)).toEqual([
    "cronstable_cluster_enabled 1",
    "cronstable_cluster_leader_transitions_total 2",
    "cronstable_cluster_quorum_transitions_total 2",
  ]);
  await clustered.stop();
});

test("a name of a family says its type", () => {
  for (const { name, type } of Object.values(families)) {
    expect(name).toMatch(/^cronstable_[a-z_]+$/);
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    expect([name, name.endsWith("_info")]).toEqual([name, type === "info"]);
  }
});

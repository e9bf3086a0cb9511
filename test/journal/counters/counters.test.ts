import { describe, expect, test } from "vitest";
import type { CountersSnapshot, JobCounters } from "../../../src/contract/counters.ts";
import { added, addedHistograms, noCounters } from "../../../src/journal/counters/counters.rules.ts";
import { createDurableCounters } from "../../../src/journal/counters/counters.ts";
import { countersRecord } from "../../../src/journal/counters/counters-record.ts";
import { encodeJson } from "../../../src/store/json-text.ts";
import { failing, type JournalBench, journalBench, NOON } from "../support/journal-bench.ts";

const bounds = [0.1, 1, 5];
const counted: JobCounters = {
  runs: { success: 3, failure: 1 },
  retries: 2,
  permanentFailures: 1,
  startFailures: 0,
  durations: { sumSeconds: 2, count: 4, bucketCounts: [1, 3, 4] },
  lastSuccessAt: NOON,
  lastFailureAt: null,
  cpuUserSeconds: 1.5,
  cpuSystemSeconds: 0,
  cpuRuns: 1,
  maxRssBytes: 4096,
  slaBreaches: { lateAfter: 1 },
};
const snapshot: CountersSnapshot = { bounds, jobs: new Map([["backup", counted]]) };

function node(shared: Partial<JournalBench> = {}) {
  const bench = journalBench(shared);
  const { backend, writes, clock, log } = bench;
  return {
    ...bench,
    counters: createDurableCounters({ host: "nodea", backend, writes, clock, log }),
    written: () => writes.settled("counters/nodea"),
  };
}

describe("state 14: the record", () => {
  test("has the bytes other implementations write", () => {
    expect(encodeJson(countersRecord.encode({ ...snapshot, at: NOON }))).toEqual({
      kind: "text",
      text:
        '{"at":"2026-11-30T12:00:00+00:00","buckets":[0.1,1.0,5.0],"jobs":{"backup":{"bucket_counts":[1,3,4],"cpu_count":1,' +
        '"cpu_system_sum":0.0,"cpu_user_sum":1.5,"duration_count":4,"duration_sum":2.0,"last_failure_time":null,' +
        '"last_success_time":1796040000.0,"max_rss_observed":4096,"permanent_failures":1,"retries":2,"runs":{"failure":1,"success":3},' +
        '"sla_breaches":{"lateAfter":1},"start_failures":0}}}',
    });
  });

  test("CNT-4: is read field by field: what is no count is passed over by itself", () => {
    const odd = {
      runs: { success: true, failure: 2, cancelled: -1, exploded: 4 },
      retries: "3",
      permanent_failures: 1.5,
      start_failures: 2,
      duration_sum: null,
      bucket_counts: [1, "2"],
      last_success_time: "yesterday",
      max_rss_observed: -5,
    };
    const found = countersRecord.decode({ buckets: bounds, jobs: { backup: odd, other: 7 } });
    expect(found.kind === "record" && [...found.value.jobs]).toEqual([
      ["backup", { ...noCounters([]), runs: { failure: 2 }, startFailures: 2 }],
    ]);
  });

  test("a job named like a part of the language is an ordinary name", () => {
    const found = countersRecord.decode(
      countersRecord.encode({ bounds, jobs: new Map([["__proto__", counted]]), at: NOON }),
    );
    expect(found.kind === "record" && found.value.jobs.get("__proto__")).toEqual(counted);
  });
});

describe("CNT-4: adding up", () => {
  test("sums add, instants and the largest memory are the greater", () => {
    const now: JobCounters = {
      ...noCounters(bounds),
      runs: { success: 1, unknown: 1 },
      lastSuccessAt: NOON - 1,
      lastFailureAt: 5,
      maxRssBytes: 1,
    };
    expect(added(now, counted, true)).toEqual({
      ...counted,
      runs: { success: 4, failure: 1, unknown: 1 },
      lastFailureAt: 5,
    });
  });

  test("CNT-2: histograms only of the same bounds", () => {
    expect(added(noCounters(bounds), counted, false).durations).toEqual(noCounters(bounds).durations);
    expect(addedHistograms(counted.durations, counted.durations)).toEqual({
      sumSeconds: 4,
      count: 8,
      bucketCounts: [2, 6, 8],
    });
    expect(addedHistograms(counted.durations, { ...counted.durations, bucketCounts: [1] })).toEqual(counted.durations);
  });
});

describe("CNT-1: snapshots", () => {
  test("CNT-3: at most one in fifteen seconds, which is what a crash can cost, and a last one at the end whatever the time", async () => {
    const here = node();
    await here.counters.seed(bounds);
    for (let n = 0; n < 32; n++) {
      here.counters.runRecorded(() => snapshot);
      await here.pass(1000);
    }
    await here.written();
    expect(await here.bodies("counters/nodea")).toHaveLength(3);
    here.counters.flush(() => snapshot);
    await here.written();
    expect(await here.bodies("counters/nodea")).toHaveLength(4);
  });

  test("CNT-4: none before the seed was asked for: a process never seeds from its own", async () => {
    const here = node();
    here.counters.runRecorded(() => snapshot);
    here.counters.flush(() => snapshot);
    expect(here.writes.pending).toBe(0);
  });
});

describe("CNT-2: seeding", () => {
  async function restarted(): Promise<ReturnType<typeof node>> {
    const earlier = node();
    await earlier.counters.seed(bounds);
    earlier.counters.flush(() => snapshot);
    await earlier.written();
    return node(earlier);
  }

  test("takes the newest snapshot of this host, once per process", async () => {
    const here = await restarted();
    const seed = await here.counters.seed(bounds);
    expect([seed?.sameBounds, seed?.snapshot.jobs.get("backup")]).toEqual([true, counted]);
    expect(await here.counters.seed(bounds)).toBeNull();
  });

  test("CNT-4: other bounds leave the histograms waiting for a setting that equals theirs", async () => {
    const here = await restarted();
    expect((await here.counters.seed([1, 2]))?.sameBounds).toBe(false);
    expect(here.counters.adoptParked([1, 2, 3])).toBeNull();
    expect(here.counters.adoptParked(bounds)?.get("backup")).toEqual(counted.durations);
    expect(here.counters.adoptParked(bounds)).toBeNull();
  });

  test("CNT-4: a store that cannot be read forfeits the seed", async () => {
    const here = await restarted();
    here.behave(failing());
    expect(await here.counters.seed(bounds)).toBeNull();
    here.behave(null);
    expect(await here.counters.seed(bounds)).toBeNull();
    expect(here.logged).toEqual([
      "WARNING state: counters start anew, those of before cannot be read: the disk is full",
    ]);
  });
});

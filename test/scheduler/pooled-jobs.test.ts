import { expect, test } from "vitest";
import type { JobConfig, PoolConfig } from "../../src/config/model.ts";
import { memoryMedium } from "../../src/store/memory/medium.ts";
import { jobConfig } from "../support/job-config.ts";
import { type Behaviour, exits, lasts, startNode } from "../support/node.ts";
import { everyHour } from "../support/timings.ts";

const at = "2026-03-01T11:59:50Z";
const pool: PoolConfig = { name: "db", slots: 2, maxQueued: 10 };

function pooled(
  name: string,
  over: Partial<JobConfig> = {},
  claim: Partial<NonNullable<JobConfig["launch"]["pool"]>> = {},
) {
  const job = jobConfig({ name, command: `./${name}.sh`, timing: everyHour, ...over });
  const asked = { pool: "db", slots: 1, priority: 0, timeoutSeconds: 3600, ...claim };
  return { ...job, launch: { ...job.launch, pool: asked } };
}

const node = (jobs: readonly JobConfig[], commands: Record<string, Behaviour>, pools = [pool]) =>
  startNode({ at, jobs, commands, pools: { configs: pools, medium: memoryMedium() } });

const twice = { maximumRetries: 2, initialDelaySeconds: 60, maximumDelaySeconds: 60, backoffMultiplier: 1 };

test("19.4.2, 46: no more run at once than the pool has slots; priority goes first, then who came first", async () => {
  const jobs = [pooled("a"), pooled("b"), pooled("c"), pooled("d", {}, { priority: 5 })];
  const commands = Object.fromEntries(jobs.map(({ name }) => [`./${name}.sh`, lasts(100)]));
  const it = node(jobs, commands);
  await it.until("12:30");
  const startsAt = jobs.map(({ name }) => (it.starts(name)[0] ?? 0) - Date.parse("2026-03-01T12:00:00Z"));
  const within = startsAt.map((ms) => Math.floor(ms / 100_000));
  expect(within.filter((round) => round === 0)).toHaveLength(2);
  expect(within.filter((round) => round === 1)).toHaveLength(2);
  expect(it.transcript()).not.toContain("refused");
});

test("19.4.3: Forbid keeps a pooled start waiting instead of dropping it", async () => {
  const it = node([pooled("slow", { concurrencyPolicy: "Forbid" })], { "./slow.sh": lasts(4000) });
  await it.until("14:30");
  expect(it.starts("slow")).toHaveLength(3);
  expect(it.transcript()).not.toContain("refused");
});

test("8: a start by hand is told that it is queued, and starts in its turn", async () => {
  const it = node([pooled("a", {}, { slots: 2 }), pooled("b", {}, { slots: 2 })], { "./a.sh": lasts(600) });
  await it.until("12:01");
  const answer = it.scheduler.startJob("b", "ann");
  await it.until("12:01:01");
  expect(await answer).toMatchObject({ kind: "queued", pool: "db" });
  await it.until("12:20");
  expect(it.transcript()).toMatch(/b +start +manual/);
});

test("F-31, 47: a retry waits in the queue and keeps its attempt; a success ends the sequence", async () => {
  const it = node([pooled("flaky", { retry: twice }), pooled("hog", {}, { slots: 2, priority: 9 })], {
    "./flaky.sh": exits(1, 0),
    "./hog.sh": lasts(300),
  });
  await it.until("12:30");
  expect(it.transcript()).toMatch(
    /flaky +retry +#1 in 60s[\s\S]*flaky +start +retry 1[\s\S]*flaky +settled +retry 1: succeeded/,
  );
});

test("F-21: a fire ends the retries before it waits, and is admitted with a ladder of its own", async () => {
  const it = node([pooled("flaky", { retry: { ...twice, initialDelaySeconds: 4000, maximumDelaySeconds: 4000 } })], {
    "./flaky.sh": exits(1),
  });
  await it.until("13:30");
  expect(it.transcript()).toMatch(/13:00:00 +flaky +settled +retry 1: superseded/);
  expect(it.transcript().match(/retry +#1 in 4000s/g)).toHaveLength(2);
});

test("19.4.6: what waits longer than its time is given up, with the reason", async () => {
  const it = node([pooled("hog", {}, { slots: 2, priority: 1 }), pooled("late", {}, { timeoutSeconds: 120 })], {
    "./hog.sh": lasts(1000),
  });
  await it.until("12:30");
  expect(it.starts("late")).toHaveLength(0);
  expect(it.transcript()).toMatch(/late +refused +schedule: pool-refused/);
});

test("19.4.5, 46: a full queue drops the fire with a warning and the daemon goes on", async () => {
  const small: PoolConfig = { name: "db", slots: 1, maxQueued: 1 };
  const jobs = ["a", "b", "c"].map((name) => pooled(name));
  const it = node(jobs, { "./a.sh": lasts(60), "./b.sh": lasts(60), "./c.sh": lasts(60) }, [small]);
  await it.until("12:30");
  expect(it.log.filter((line) => line.includes("could not enter pool db: its queue is full"))).not.toHaveLength(0);
  await it.until("13:30");
  expect(jobs.flatMap(({ name }) => it.starts(name)).length).toBe(2);
});

test("19.4.10: a shutdown leaves what waits in the queue, and the next daemon runs it", async () => {
  const medium = memoryMedium();
  const jobs = [pooled("hog", {}, { slots: 2, priority: 1 }), pooled("late")];
  const first = startNode({
    at,
    jobs,
    commands: { "./hog.sh": lasts(60) },
    pools: { configs: [pool], medium },
  });
  await first.until("12:00:10");
  const stopped = first.scheduler.stop();
  await first.until("12:02");
  await stopped;
  expect(first.starts("late")).toHaveLength(0);
  const second = startNode({ at: "2026-03-01T12:05:00Z", jobs, node: "node-b", pools: { configs: [pool], medium } });
  await second.until("12:10");
  expect(second.starts("late")).toHaveLength(1);
});

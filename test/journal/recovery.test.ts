import { describe, expect, test } from "vitest";
import type { JobConfig } from "../../src/config/model.ts";
import { createHousekeeping } from "../../src/journal/housekeeping.ts";
import { createJournal } from "../../src/journal/journal.ts";
import { HOST_SILENCE_MS } from "../../src/journal/limits.ts";
import { recover } from "../../src/journal/recovery.ts";
import { jobApiDefaults } from "../support/job-api.ts";
import { jobConfig } from "../support/job-config.ts";
import { hanging, type JournalBench, journalBench, NOON } from "./support/journal-bench.ts";
import { failed, ran } from "./support/rows.ts";

const second = 1000;
const hour = 3600 * second;

/** A daemon's journal, and a scheduler that only writes down what it is given. */
function daemon(host: string, proc: string, shared: Partial<JournalBench> = {}) {
  const bench = journalBench(shared);
  const job = (over: Partial<JobConfig> = {}): JobConfig =>
    jobConfig({
      name: "backup",
      retry: { maximumRetries: 5, initialDelaySeconds: 30, maximumDelaySeconds: 300, backoffMultiplier: 2 },
      ...over,
    });
  const journal = createJournal({
    self: { host, proc },
    boot: { bootId: "boot-1", bootTimeSeconds: null },
    backend: bench.backend,
    settings: () => settings,
    processes: { look: () => ({ kind: "gone" }) },
    clock: bench.clock,
    log: bench.log,
  });
  const told: string[] = [];
  const jobs = [{ config: job(), jobDigest: "d1" }];
  const local = { busy: () => false, owns: () => true, lastCompletedAt: () => null };
  const takes = {
    interrupted: ({ job: name, row }: { job: string; row: { interruptedAt: number } }) =>
      told.push(`interrupted ${name} ${row.interruptedAt - NOON}`),
    paused: ({ job: name, pause }: { job: string; pause: { note: string } | null }) =>
      told.push(`pause ${name} ${pause?.note ?? "none"}`),
    resumed: ({ job: name, attempt }: { job: string; attempt: number }) => told.push(`retry ${name} ${attempt}`),
  };
  const housekeeping = createHousekeeping(journal, {
    jobs: () => jobs,
    configured: () => ({ jobSetId: "v1:0", jobs: ["backup"], scopes: ["global"], dags: [] }),
    graceSeconds: () => 7 * 86_400,
    local,
    resumeActive: () => true,
    ownedRuns: () => false,
    ...takes,
  });
  return {
    ...bench,
    journal,
    told,
    recover: (warm = true) =>
      recover(journal, {
        jobs,
        bounds: [1],
        local,
        isLive: () => false,
        hasHistory: () => !warm,
        warmed: (name, { rows }) => told.push(`history ${name} ${rows.length}`),
        seeded: ({ snapshot }) => told.push(`counters ${[...snapshot.jobs.keys()].join()}`),
        ...takes,
      }),
    async minutes(count: number) {
      for (let n = 0; n < count; n++) {
        void housekeeping.minute();
        await bench.pass(60 * second);
      }
    },
  };
}

const settings = {
  path: "/var/lib/cronstable",
  topology: "auto",
  deploymentId: null,
  maxRunsPerJob: 1000,
  onStoreUnavailable: "degrade",
  gcGraceSeconds: 604_800,
  maxOpsPerSecond: 0,
  slotTtlSeconds: 30,
  jobApi: jobApiDefaults,
} as const;

/** A daemon that worked for a while and was killed: a run on record, one cut, a pause, counters, a retry that waits. */
async function killed() {
  const before = daemon("nodea", "old");
  await before.recover();
  const { journal, clock } = before;
  journal.ledger.record("backup", failed(NOON - 60 * second));
  journal.retries.armed("backup", { attempt: 1, notBefore: NOON + 30 * second, armedAt: NOON, jobDigest: "d1" });
  journal.inFlight.started("backup", { runId: "r1", pid: 11, startedAt: NOON - 30 * second, jobDigest: "d1" });
  journal.pauses.paused("backup", { since: NOON, until: NOON + hour, note: "maint", by: "alice", channel: "api" });
  journal.counters.flush(() => ({ bounds: [1], jobs: new Map() }));
  await journal.writes.flush(second);
  expect(clock.pending).toBe(0);
  return before;
}

describe("REH-5: what a new daemon takes up, in order", () => {
  test("history, the run that was cut, counters, pauses, retries", async () => {
    const after = daemon("nodea", "new", await killed());
    await after.recover();
    expect(after.told).toEqual([
      "history backup 1",
      "interrupted backup -30000",
      "counters ",
      "pause backup maint",
      "retry backup 1",
    ]);
    expect(after.logged).toEqual([
      "INFO state: rehydrated run history for 1 job(s) from the ledger",
      expect.stringContaining("WARNING Job backup: reconciled an interrupted run (reconciled-crash)"),
      "INFO Job backup: re-armed pending retry #1 from the durable ledger (due in 30.0 seconds)",
    ]);
  });

  test("REH-1: a job with history in memory is not warmed again when the state section changed", async () => {
    const after = daemon("nodea", "new", await killed());
    await after.recover(false);
    expect(after.told).not.toContain("history backup 1");
  });

  test("RET-9: the cut run began before the retry was armed, and leaves it", async () => {
    const after = daemon("nodea", "new", await killed());
    await after.recover();
    expect(after.told.at(-1)).toBe("retry backup 1");
  });

  test("a store that hangs costs each part its ten seconds; nothing is taken up, and that is said", async () => {
    const after = daemon("nodea", "new", await killed());
    after.behave(hanging());
    const recovered = after.recover();
    await after.pass(100 * second);
    await recovered;
    expect(after.told).toEqual([]);
    expect(after.logged.filter((line) => line.startsWith("WARNING state:"))).toHaveLength(5);
  });
});

describe("GEN-6: the minute's chores", () => {
  test("write manifests, pick up a peer's pauses and late retries, collect once a day", async () => {
    const peer = daemon("nodeb", "peer");
    peer.journal.retries.armed("backup", { attempt: 2, notBefore: NOON, armedAt: NOON, jobDigest: "d1" });
    await peer.journal.writes.flush(second);
    const here = daemon("nodea", "here", peer);
    await here.minutes(1);
    peer.journal.pauses.paused("backup", { since: NOON, until: NOON + hour, note: "maint", by: "bob", channel: "api" });
    await here.minutes(2);
    expect(here.told).toEqual(["pause backup maint", "retry backup 2", "pause backup maint"]);
    expect(await here.bodies("manifests/nodea")).toHaveLength(1);
    expect(here.logged.filter((line) => line.includes("garbage collection"))).toHaveLength(1);
  });

  test("close the runs of a host that never comes back", async () => {
    const gone = daemon("pod-7", "gone");
    gone.journal.inFlight.started("backup", { runId: "r1", pid: 11, startedAt: NOON, jobDigest: "d1" });
    await gone.journal.writes.flush(second);
    const here = daemon("pod-8", "here", gone);
    await here.minutes(HOST_SILENCE_MS / (60 * second) - 1);
    expect(here.told).toEqual([]);
    await here.minutes(62);
    expect(here.told).toEqual(["interrupted backup 0"]);
  });

  test("RET-9: arm a retry that could not be looked up at start", async () => {
    const after = daemon("nodea", "new", await killed());
    after.unplug();
    await after.recover();
    after.plugIn();
    await after.minutes(1);
    expect(after.told).toContain("retry backup 1");
  });
});

describe("GEN-7: the end", () => {
  test("waits for what is pending, for five seconds at most, and says so", async () => {
    const here = daemon("nodea", "here");
    here.behave((operation) => (operation === "append" ? { kind: "slow", delayMs: 20 * second } : { kind: "answer" }));
    here.journal.ledger.record("backup", ran(NOON));
    const closed = here.journal.close();
    await here.pass(5 * second);
    await closed;
    expect(here.logged).toEqual([
      "INFO Flushing 1 pending state write(s)",
      "WARNING state: 1 durable write(s) were not confirmed within 5 s",
    ]);
  });
});

import { describe, expect, test } from "vitest";
import type { JobConfig } from "../../../src/config/model.ts";
import { createLedger } from "../../../src/journal/ledger/ledger.ts";
import { runRecord } from "../../../src/journal/ledger/run-record.ts";
import { abandonedRetry } from "../../../src/journal/retries/abandoned.ts";
import { createRetryClaims } from "../../../src/journal/retries/claims.ts";
import { type Consumed, consumeRetry } from "../../../src/journal/retries/consume.ts";
import { createRetryRearm, type RetriedJob } from "../../../src/journal/retries/rearm.ts";
import { createRetryStream } from "../../../src/journal/retries/retry-stream.ts";
import type { UnavailablePolicy } from "../../../src/journal/unavailable.rules.ts";
import { jobConfig } from "../../support/job-config.ts";
import { failing, hanging, type JournalBench, journalBench, NOON } from "../support/journal-bench.ts";
import { ran } from "../support/rows.ts";

const second = 1000;

function node(host: string, shared: Partial<JournalBench> = {}) {
  const bench = journalBench(shared);
  const { backend, writes, clock, log } = bench;
  const self = { host, proc: `${host}-proc` };
  const retries = createRetryStream({ host, backend, writes, clock });
  const ledger = createLedger({ backend, writes, maxRunsPerJob: () => 1000 });
  const busy = new Set<string>();
  const owned = new Set<string>(["backup"]);
  let covered = true;
  const rearm = createRetryRearm({ host, backend, retries, ledger, bootCovered: async () => covered, clock, log });
  const claims = createRetryClaims({ self, backend, retries, ledger, clock, log });
  const local = {
    busy: (job: string) => busy.has(job),
    owns: (job: string) => owned.has(job),
    lastCompletedAt: () => null,
  };
  return {
    ...bench,
    retries,
    ledger,
    busy,
    owned,
    rebooted: () => {
      covered = false;
    },
    arm: (attempt = 1, delaySeconds = 30) =>
      retries.armed("backup", {
        attempt,
        notBefore: clock.wallNow() + delaySeconds * second,
        armedAt: clock.wallNow(),
        jobDigest: "d1",
      }),
    rearm: (jobs = [job()]) => rearm.run(jobs, local),
    rearmAgain: (jobs = [job()]) => rearm.again(jobs, local),
    scan: (jobs = [job()]) => claims.scan(jobs, local),
    consume: (policy: UnavailablePolicy = "degrade", resume = true): Promise<Consumed> =>
      consumeRetry({ self, backend, retries, clock, log }, "backup", 1, { resume, policy }),
    kinds: async () =>
      (await bench.bodies("retries/backup")).map(({ kind, reason }) =>
        reason === undefined ? kind : `${kind} ${reason}`,
      ),
  };
}

function job(over: Partial<JobConfig> = {}, jobDigest = "d1"): RetriedJob {
  const retry = { maximumRetries: 5, initialDelaySeconds: 30, maximumDelaySeconds: 300, backoffMultiplier: 2 };
  return { config: jobConfig({ name: "backup", retry, ...over }), jobDigest };
}

describe("RET-1, RET-2, F-34: arming", () => {
  test("persists attempt, absolute deadline and digest, in order with what settles it", async () => {
    const { arm, retries, writes, bodies } = node("nodea");
    arm();
    void retries.settled("backup", 1, "succeeded");
    await writes.settled("retries/backup");
    expect(await bodies("retries/backup")).toEqual([
      {
        at: "2026-11-30T12:00:00+00:00",
        attempt: 1,
        host: "nodea",
        jobDigest: "d1",
        kind: "pending",
        notBefore: "2026-11-30T12:00:30+00:00",
      },
      { at: "2026-11-30T12:00:00+00:00", attempt: 1, host: "nodea", kind: "settled", reason: "succeeded" },
    ]);
  });

  test("F-38: a ladder write that is lost is counted and warned of", async () => {
    const { arm, behave, writes, drops, logged } = node("nodea");
    behave(failing("append"));
    arm();
    await writes.settled("retries/backup");
    expect(drops.counts().retry).toBe(1);
    expect(logged).toEqual(["WARNING state: dropped a durable write (retry) of backup: the disk is full"]);
  });
});

describe("RET-5: start", () => {
  test("a retry that was waiting goes on, and only what is left of its wait", async () => {
    const before = node("nodea");
    before.arm(2);
    await before.pass(10 * second);
    const after = node("nodea", before);
    expect(await after.rearm()).toEqual([{ job: "backup", attempt: 2, dueAt: NOON + 30 * second, armedAt: NOON }]);
    expect(after.logged).toEqual([
      "INFO Job backup: re-armed pending retry #2 from the durable ledger (due in 20.0 seconds)",
    ]);
  });

  test("an overdue one is due at once", async () => {
    const before = node("nodea");
    before.arm(1);
    await before.pass(3600 * second);
    const after = node("nodea", before);
    expect(await after.rearm()).toMatchObject([{ dueAt: NOON + 30 * second }]);
    expect(after.logged[0]).toContain("(due in 0.0 seconds)");
  });

  test("RET-4: a graceful stop in between changes nothing: it settles nothing", async () => {
    const before = node("nodea");
    before.arm(1);
    await before.writes.flush(5 * second);
    expect(await node("nodea", before).rearm()).toHaveLength(1);
  });

  test.each<[string, RetriedJob]>([
    ["config-changed", job({}, "d2")],
    ["disabled", job({ enabled: false })],
    ["exhausted", job({ retry: { ...job().config.retry, maximumRetries: 1 } })],
    ["deadline-passed", job({ startingDeadlineSeconds: 60 })],
  ])("RET-6: settled with its reason, which the log says: %s", async (reason, changed) => {
    const before = node("nodea");
    before.arm(2);
    await before.pass(3600 * second);
    const after = node("nodea", before);
    expect(await after.rearm([changed])).toEqual([]);
    await after.writes.settled("retries/backup");
    expect(await after.kinds()).toEqual(["pending", `settled ${reason}`]);
    expect(after.logged).toEqual([`INFO Job backup: pending retry #2 was not armed again: ${reason}`]);
    expect(await node("nodea", after).rearm([changed])).toEqual([]);
  });

  test("RET-6: of a job that is gone from the configuration", async () => {
    const before = node("nodea");
    before.arm(1);
    await before.writes.flush(second);
    const after = node("nodea", before);
    expect(await after.rearm([])).toEqual([]);
    await after.writes.flush(second);
    expect(await after.kinds()).toEqual(["pending", "settled job-removed"]);
  });

  test("RET-9: superseded by a run that ended after it was armed, on any node", async () => {
    const before = node("nodea");
    before.arm(1);
    await before.put("runs/backup", runRecord.encode(ran(NOON + second)));
    await before.writes.flush(second);
    const after = node("nodea", before);
    expect(await after.rearm()).toEqual([]);
    await after.writes.flush(second);
    expect(await after.kinds()).toEqual(["pending", "settled superseded-by-run"]);
  });

  test("RET-8: an @reboot job's retry after a real reboot is settled, and armed again while the marker covers this boot", async () => {
    const reboot = job({ timing: { kind: "reboot" } });
    const before = node("nodea");
    before.arm(1);
    await before.writes.flush(second);
    expect(await node("nodea", before).rearm([reboot])).toHaveLength(1);
    const after = node("nodea", before);
    after.rebooted();
    expect(await after.rearm([reboot])).toEqual([]);
    await after.writes.flush(second);
    expect(await after.kinds()).toEqual(["pending", "settled superseded-by-reboot"]);
  });

  test("F-39: another host's retry is neither armed nor settled", async () => {
    const before = node("nodeb");
    before.arm(1);
    await before.writes.flush(second);
    const after = node("nodea", before);
    expect(await after.rearm([job({}, "d2")])).toEqual([]);
    expect(await after.rearm([])).toEqual([]);
    await after.writes.flush(second);
    expect(await after.kinds()).toEqual(["pending"]);
  });

  test("F-39: a job that retries or runs already is left alone", async () => {
    const before = node("nodea");
    before.arm(1);
    await before.writes.flush(second);
    const after = node("nodea", before);
    after.busy.add("backup");
    expect(await after.rearm()).toEqual([]);
  });

  test("RET-9: a read that is not answered ends the pass; the retry is looked at again later, not lost and not run twice", async () => {
    const before = node("nodea");
    before.arm(1);
    await before.writes.flush(second);
    const after = node("nodea", before);
    after.behave(hanging("listRecords"));
    const armed = after.rearm();
    await after.pass(10 * second);
    expect(await armed).toEqual([]);
    expect(after.logged).toEqual([
      "WARNING state: looking up pending retries timed out at backup; the rest waits a minute",
    ]);
    after.behave(null);
    expect(await after.rearmAgain()).toHaveLength(1);
    expect(await after.rearmAgain()).toEqual([]);
  });

  test("RET-7: while the ledger cannot be read the retry is not armed on a guess", async () => {
    const before = node("nodea");
    before.arm(1);
    await before.writes.flush(second);
    const after = node("nodea", before);
    after.behave(failing("maxOfField"));
    expect(await after.rearm()).toEqual([]);
    expect(await after.kinds()).toEqual(["pending"]);
    after.behave(null);
    expect(await after.rearmAgain()).toHaveLength(1);
  });

  test("a store that is not up yet leaves everything for the next minute", async () => {
    const before = node("nodea");
    before.arm(1);
    await before.writes.flush(second);
    const after = node("nodea", before);
    after.unplug();
    expect(await after.rearm()).toEqual([]);
    after.plugIn();
    expect(await after.rearmAgain()).toHaveLength(1);
  });
});

describe("RET-3: a due retry is settled before it is launched", () => {
  test("RET-10: after the job's earlier writes", async () => {
    const here = node("nodea");
    here.arm(1);
    expect(await here.consume("fail-closed", false)).toEqual({ kind: "launch" });
    expect(await here.kinds()).toEqual(["pending", "settled launched"]);
  });

  test("so a crash right after does not replay it", async () => {
    const here = node("nodea");
    here.arm(1);
    await here.consume();
    expect(await node("nodea", here).rearm()).toEqual([]);
  });

  test.each<[UnavailablePolicy, Consumed["kind"]]>([
    ["degrade", "launch"],
    ["fail-closed", "defer"],
  ])("F-36: when that fails, %s: %s", async (policy, kind) => {
    const here = node("nodea");
    here.behave(failing("append"));
    expect((await here.consume(policy, false)).kind).toBe(kind);
  });

  test.each<[UnavailablePolicy, Consumed["kind"]]>([
    ["degrade", "launch"],
    ["fail-closed", "defer"],
  ])("UNA-1: without a backend, %s: %s", async (policy, kind) => {
    const here = node("nodea");
    here.unplug();
    expect((await here.consume(policy)).kind).toBe(kind);
    expect((await here.consume(policy, false)).kind).toBe(kind);
  });

  test("a store that hangs costs ten seconds", async () => {
    const here = node("nodea");
    here.behave(hanging());
    const consumed = here.consume("fail-closed", false);
    await here.pass(10 * second);
    expect(await consumed).toMatchObject({ kind: "defer" });
  });

  test("a chain of hanging writes before it costs no more than one", async () => {
    const here = node("nodea");
    here.behave(hanging());
    for (let n = 1; n <= 5; n++) here.arm(n);
    const consumed = here.consume("degrade", false);
    await here.pass(10 * second);
    expect(await consumed).toEqual({ kind: "launch" });
  });
});

describe("RSM-5, F-46: with resume active the claim is asked first", () => {
  test("the newest record of another host stops the local sequence, and nothing is settled", async () => {
    const here = node("nodea");
    here.arm(1);
    await here.writes.flush(second);
    const there = node("nodeb", here);
    there.arm(1);
    await there.writes.flush(second);
    expect(await here.consume()).toEqual({ kind: "claimed elsewhere", host: "nodeb" });
    expect(await here.kinds()).toEqual(["pending", "pending"]);
    expect(here.logged).toEqual([
      "WARNING Job backup retry #1 dropped: another node claimed this retry ladder (cross-node retry resume); it fires there",
    ]);
  });

  test("a handoff never aborts its own writer", async () => {
    const here = node("nodea");
    here.retries.handedOff("backup", { attempt: 1, armedAt: NOON, jobDigest: "d1" });
    await here.writes.flush(second);
    expect(await here.consume()).toEqual({ kind: "launch" });
  });

  test("while another node holds the claim the retry is deferred, under either policy", async () => {
    const here = node("nodea");
    await here.store.leases.acquire("retry-claim/backup", "nodeb#other", 30 * second);
    expect(await here.consume("degrade")).toEqual({ kind: "defer", because: "nodeb#other is claiming it" });
  });

  test("the claim is given back at once", async () => {
    const here = node("nodea");
    here.arm(1);
    await here.consume();
    expect(await here.store.leases.read("retry-claim/backup")).toEqual({ kind: "done", value: null });
  });

  test.each<[UnavailablePolicy, Consumed["kind"]]>([
    ["degrade", "launch"],
    ["fail-closed", "defer"],
  ])("when the record cannot be read, %s: %s", async (policy, kind) => {
    const here = node("nodea");
    here.behave(failing("listRecords"));
    expect((await here.consume(policy)).kind).toBe(kind);
  });

  test.each<[UnavailablePolicy, Consumed["kind"]]>([
    ["degrade", "launch"],
    ["fail-closed", "defer"],
  ])("when the lease cannot be had, %s: %s", async (policy, kind) => {
    const here = node("nodea");
    here.behave(failing("acquireLease"));
    expect((await here.consume(policy)).kind).toBe(kind);
  });

  test("LSE-5: a claim that was not answered is read back and adopted if it is ours", async () => {
    const here = node("nodea");
    here.arm(1);
    await here.writes.flush(second);
    here.behave((operation) => (operation === "acquireLease" ? { kind: "silent", lands: true } : { kind: "answer" }));
    const consumed = here.consume("fail-closed");
    await here.pass(10 * second);
    expect(await consumed).toEqual({ kind: "launch" });
  });
});

test("RSM-2: without resume an ownership change settles owner-moved and leaves a cancelled row", async () => {
  const here = node("nodea");
  here.arm(1);
  void here.retries.settled("backup", 1, "owner-moved");
  here.ledger.record("backup", abandonedRetry(1, NOON));
  await here.writes.flush(second);
  expect(await here.kinds()).toEqual(["pending", "settled owner-moved"]);
  expect(await here.bodies("runs/backup")).toMatchObject([
    {
      outcome: "cancelled",
      started_at: null,
      duration: null,
      fail_reason: "retry abandoned: cluster ownership moved to another node",
      trigger: { kind: "retry", attempt: 1 },
    },
  ]);
});

describe("RSM-3, F-44: claiming", () => {
  test("RSM-2: a handoff is taken over by the new owner at once, and written down as its own before the lease goes", async () => {
    const old = node("nodea");
    old.arm(1);
    await old.pass(5 * second);
    old.retries.handedOff("backup", { attempt: 1, armedAt: NOON, jobDigest: "d1" });
    await old.writes.flush(second);
    const owner = node("nodeb", old);
    expect(await owner.scan()).toEqual([
      { job: "backup", attempt: 1, dueAt: NOON + 5 * second, armedAt: NOON + 5 * second },
    ]);
    expect((await owner.bodies("retries/backup")).at(-1)).toMatchObject({
      kind: "pending",
      host: "nodeb",
      claimedFrom: "nodea",
    });
    expect(owner.logged).toEqual([
      "INFO Job backup: claimed pending retry #1 from host nodea (cross-node retry resume); due in 0.0 seconds",
    ]);
    expect(await owner.store.leases.read("retry-claim/backup")).toEqual({ kind: "done", value: null });
    expect(await old.consume()).toEqual({ kind: "claimed elsewhere", host: "nodeb" });
  });

  test("a killed owner's retry thirty seconds after it was due, looked for at most every 55 s", async () => {
    const old = node("nodea");
    old.arm(1);
    await old.writes.flush(second);
    const owner = node("nodeb", old);
    expect(await owner.scan()).toEqual([]);
    await owner.pass(54 * second);
    expect(await owner.scan()).toEqual([]);
    await owner.pass(6 * second);
    expect(await owner.scan()).toHaveLength(1);
  });

  test("of two owners that see it at once one gets it", async () => {
    const old = node("nodea");
    old.retries.handedOff("backup", { attempt: 1, armedAt: NOON, jobDigest: "d1" });
    await old.writes.flush(second);
    const claims = await Promise.all([node("nodeb", old).scan(), node("nodec", old).scan(), node("noded", old).scan()]);
    expect(claims.flat()).toHaveLength(1);
  });

  test("RSM-4: a run on any node that ended after it was armed settles it instead", async () => {
    const old = node("nodea");
    old.retries.handedOff("backup", { attempt: 1, armedAt: NOON, jobDigest: "d1" });
    await old.writes.flush(second);
    await old.put("runs/backup", runRecord.encode(ran(NOON + 1)));
    const owner = node("nodeb", old);
    expect(await owner.scan()).toEqual([]);
    expect(await owner.kinds()).toEqual(["handoff", "settled superseded-by-run"]);
  });

  test("RSM-4: one past the deadline of its job is settled by the job's owner, and by nobody else", async () => {
    const old = node("nodea");
    old.retries.handedOff("backup", { attempt: 1, armedAt: NOON, jobDigest: "d1" });
    await old.writes.flush(second);
    await old.pass(600 * second);
    const late = [job({ startingDeadlineSeconds: 300 })];
    const other = node("nodec", old);
    other.owned.clear();
    expect([await other.scan(late), await other.kinds()]).toEqual([[], ["handoff"]]);
    const owner = node("nodeb", old);
    expect([await owner.scan(late), await owner.kinds()]).toEqual([[], ["handoff", "settled deadline-passed"]]);
  });

  test.each<[string, (owner: ReturnType<typeof node>) => void, readonly RetriedJob[]]>([
    ["a job this node does not own", (owner) => owner.owned.clear(), [job()]],
    ["a job that runs here", (owner) => owner.busy.add("backup"), [job()]],
    ["an every-node job", () => {}, [job({ clusterPolicy: "EveryNode" })]],
    ["an @reboot job", () => {}, [job({ timing: { kind: "reboot" } })]],
    ["a job whose ledger cannot be read", (owner) => owner.behave(failing("maxOfField")), [job()]],
    ["a job whose claim is held", (owner) => owner.behave(failing("acquireLease")), [job()]],
  ])("RSM-1, RSM-4, F-42: never of %s, and the record stays as it is", async (_, arrange, jobs) => {
    const old = node("nodea");
    old.retries.handedOff("backup", { attempt: 1, armedAt: NOON, jobDigest: "d1" });
    await old.writes.flush(second);
    const owner = node("nodeb", old);
    arrange(owner);
    expect(await owner.scan([...jobs])).toEqual([]);
    expect(await owner.kinds()).toEqual(["handoff"]);
  });

  test("F-45: a claim whose write is not answered is given up; if it has landed after all, it is gone on with later", async () => {
    const old = node("nodea");
    old.retries.handedOff("backup", { attempt: 1, armedAt: NOON, jobDigest: "d1" });
    await old.writes.flush(second);
    const owner = node("nodeb", old);
    owner.behave((operation) => (operation === "append" ? { kind: "silent", lands: true } : { kind: "answer" }));
    const scan = owner.scan();
    await owner.pass(10 * second);
    expect(await scan).toEqual([]);
    owner.behave(null);
    await owner.pass(60 * second);
    expect(await owner.scan()).toMatchObject([{ job: "backup", attempt: 1 }]);
    expect(await owner.kinds()).toEqual(["handoff", "pending"]);
  });
});

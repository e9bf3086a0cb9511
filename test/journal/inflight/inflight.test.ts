import { describe, expect, test } from "vitest";
import type { OnMissed } from "../../../src/config/model.ts";
import type { ProcessSight } from "../../../src/journal/inflight/inflight.rules.ts";
import { createInFlightRuns, type ReconciledJob } from "../../../src/journal/inflight/inflight.ts";
import { closeRunsOfLostHosts } from "../../../src/journal/inflight/lost-hosts.ts";
import { createLedger } from "../../../src/journal/ledger/ledger.ts";
import { HOST_SILENCE_MS, HOST_WATCH_MS } from "../../../src/journal/limits.ts";
import { manifestRecord } from "../../../src/journal/upkeep/manifest-record.ts";
import { failing, type JournalBench, journalBench, NOON } from "../support/journal-bench.ts";
import { ran } from "../support/rows.ts";

const second = 1000;

/** One daemon of a host; several may share a bench's medium. */
function daemon(host: string, proc: string, shared: Partial<JournalBench> = {}) {
  const bench = journalBench(shared);
  const processes = new Map<number, ProcessSight>();
  const ledger = createLedger({ backend: bench.backend, writes: bench.writes, maxRunsPerJob: () => 1000 });
  const self = { host, proc };
  const parts = {
    self,
    backend: bench.backend,
    writes: bench.writes,
    ledger,
    processes: { look: (pid: number): ProcessSight => processes.get(pid) ?? { kind: "gone" } },
    clock: bench.clock,
    log: bench.log,
  };
  const inFlight = createInFlightRuns(parts);
  return {
    ...bench,
    self,
    inFlight,
    ledger,
    /** A process of this host. */
    exists(pid: number, startedAt: number | null = null, identity: string | null = null) {
      processes.set(pid, { kind: "exists", startedAt, identity });
    },
    dies: (pid: number) => processes.delete(pid),
    run(runId: string, pid = 4711, job = "backup") {
      inFlight.started(job, { runId, pid, startedAt: bench.clock.wallNow(), jobDigest: "d1" });
    },
    /** The next daemon of this host, after this one was killed. */
    async restart(next: string, live: readonly string[] = []) {
      await bench.writes.flush(second);
      const successor = daemon(host, next, bench);
      for (const [pid, sight] of processes) {
        if (sight.kind === "exists") successor.exists(pid, sight.startedAt, sight.identity);
      }
      const found = await successor.inFlight.reconcileHere([job()], (name) => live.includes(name));
      await successor.writes.flush(second);
      return { ...successor, found };
    },
  };
}

const job = (onMissed: OnMissed = "skip"): ReconciledJob => ({ name: "backup", onMissed });

describe("INF-1: which runs a node has", () => {
  test("the first instance opens the record, the last one closes it, those between write nothing", async () => {
    const node = daemon("nodea", "0123456789ab");
    node.run("r1", 11);
    node.run("r2", 12);
    node.inFlight.ended("backup", "r1");
    node.inFlight.ended("backup", "r2");
    await node.writes.settled("inflight/backup");
    expect(await node.bodies("inflight/backup")).toEqual([
      {
        host: "nodea",
        jobDigest: "d1",
        kind: "open",
        pid: 11,
        proc: "0123456789ab",
        runId: "r1",
        startedAt: "2026-11-30T12:00:00+00:00",
      },
      { at: "2026-11-30T12:00:00+00:00", host: "nodea", kind: "closed", proc: "0123456789ab", reason: "finished" },
    ]);
  });

  test("the record is closed only when the run's row has landed, whatever the row waits for", async () => {
    const node = daemon("nodea", "1");
    node.run("r1");
    await node.writes.flush(second);
    let letRowsGo = (): void => {};
    const earlierRow = new Promise<void>((resolve) => {
      letRowsGo = resolve;
    });
    void node.writes.add("runs/backup", "run-record", "backup", async () => {
      await earlierRow;
      return { kind: "done", value: null };
    });
    node.ledger.record("backup", ran(NOON));
    node.inFlight.ended("backup", "r1");
    await node.pass(1000);
    expect(await node.bodies("inflight/backup")).toHaveLength(1);
    letRowsGo();
    await node.writes.flush(second);
    expect(await node.bodies("runs/backup")).toHaveLength(1);
    expect(await node.bodies("inflight/backup")).toMatchObject([{ kind: "open" }, { kind: "closed" }]);
  });

  test("a run that is not known ends nothing", async () => {
    const node = daemon("nodea", "1");
    node.inFlight.ended("backup", "r1");
    expect(node.writes.pending).toBe(0);
  });

  test("a write that is lost is counted", async () => {
    const node = daemon("nodea", "1");
    node.behave(failing("append"));
    node.run("r1");
    await node.writes.settled("inflight/backup");
    expect(node.drops.counts().inflight).toBe(1);
  });
});

describe("INF-2: reconciliation on the same host", () => {
  test("INF-9, INF-10: a run cut by a crash is closed, gets a row that asserts no crash, and is warned of", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    const after = await before.restart("new");
    const failReason =
      "run interrupted: no completion was recorded for the run started at 2026-11-30T12:00:00+00:00 on nodea. The server may have stopped or lost access to saved state before completion";
    expect(after.found).toEqual([
      { job: "backup", row: { kind: "interrupted", interruptedAt: NOON, owed: false, failReason } },
    ]);
    expect((await after.bodies("inflight/backup")).at(-1)).toEqual({
      at: "2026-11-30T12:00:00+00:00",
      host: "nodea",
      kind: "closed",
      of: { host: "nodea", proc: "old" },
      proc: "new",
      reason: "reconciled-crash",
    });
    expect(await after.bodies("runs/backup")).toMatchObject([
      { outcome: "unknown", started_at: null, fail_reason: failReason },
    ]);
    expect(after.logged).toEqual([
      `WARNING Job backup: reconciled an interrupted run (reconciled-crash): ${failReason}`,
    ]);
  });

  test("and once only", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    const after = await before.restart("new");
    const again = await after.restart("newer");
    expect(again.found).toEqual([]);
    expect(await again.bodies("runs/backup")).toHaveLength(1);
  });

  test("INF-8: of a job with onMissed the slot stays owed", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    await before.writes.flush(second);
    const after = daemon("nodea", "new", before);
    expect(await after.inFlight.reconcileHere([job("run-once")], () => false)).toMatchObject([{ row: { owed: true } }]);
    await after.writes.flush(second);
    const [row] = await after.bodies("runs/backup");
    expect(row).toMatchObject({ interruptedAt: "2026-11-30T12:00:00+00:00" });
    expect(row).not.toHaveProperty("finished_at");
  });

  test("a run whose row was written before the crash was not cut", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    before.ledger.record("backup", ran(NOON + second, { runId: "r1", startedAt: NOON }));
    const after = await before.restart("new");
    expect(after.found).toEqual([]);
    expect((await after.bodies("inflight/backup")).at(-1)).toMatchObject({ reason: "finished" });
    expect(await after.bodies("runs/backup")).toHaveLength(1);
  });

  test("a crash between the row and the closing record does not make a second row", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    await before.writes.flush(second);
    const [open] = await before.bodies("inflight/backup");
    const after = await before.restart("new");
    if (open !== undefined) await after.put("inflight/backup", open); // as if the closing record had not landed
    const again = await after.restart("newer");
    expect(again.found).toEqual([]);
    expect(await again.bodies("runs/backup")).toHaveLength(1);
  });

  test("INF-3: a record of this very process is left alone: the state section was reloaded under a live run", async () => {
    const node = daemon("nodea", "same");
    node.run("r1");
    await node.writes.flush(second);
    expect(await node.inFlight.reconcileHere([job()], () => false)).toEqual([]);
    expect(await node.bodies("inflight/backup")).toHaveLength(1);
  });

  test("INF-3: a job with a live instance here is left alone", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    expect((await before.restart("new", ["backup"])).found).toEqual([]);
  });

  test("INF-3: a recorded pid that still exists is left alone with a warning, and known as a survivor", async () => {
    const before = daemon("nodea", "old");
    before.exists(4711, NOON);
    before.run("r1");
    const after = await before.restart("new");
    expect(after.found).toEqual([]);
    expect(after.logged).toEqual([
      "WARNING Job backup: the previous daemon's run (pid 4711) still appears to be running; leaving its in-flight record open",
    ]);
    expect(after.inFlight.survivor("backup")).toEqual({ pid: 4711, startedAt: NOON });
    after.dies(4711);
    expect(after.inFlight.survivor("backup")).toBeNull();
  });

  test("INF-4: a recycled pid is closed like any crash", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    before.exists(4711, NOON + 61 * second);
    expect((await before.restart("new")).found).toHaveLength(1);
  });

  test("F58: also when the innocent process is older, by the identity the record carries", async () => {
    const before = daemon("nodea", "old");
    before.exists(4711, NOON, "boot/1");
    before.run("r1");
    await before.writes.flush(second);
    expect(await before.bodies("inflight/backup")).toMatchObject([{ pidIdentity: "boot/1" }]);
    before.exists(4711, NOON - 3600 * second, "boot/2");
    expect((await before.restart("new")).found).toHaveLength(1);
  });

  test("INF-5: a peer's open record is none of ours", async () => {
    const peer = daemon("nodeb", "peer");
    peer.run("r1");
    const here = daemon("nodea", "old", peer);
    here.run("r2");
    const after = await here.restart("new");
    expect(after.found).toHaveLength(1);
    expect((await after.restart("newer")).found).toEqual([]);
  });

  test("a store that does not answer is said, and nothing is closed on a guess", async () => {
    const node = daemon("nodea", "new");
    node.behave(failing());
    expect(await node.inFlight.reconcileHere([job()], () => false)).toEqual([]);
    expect(node.logged).toEqual([
      "WARNING state: runs cut by the last daemon's end cannot be looked up: the disk is full; trying again in a minute",
    ]);
  });

  test("what could not be read is looked at again until it could, and closed then", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    await before.writes.flush(second);
    const after = daemon("nodea", "new", before);
    after.behave(failing("listRecords"));
    expect(await after.inFlight.reconcileHere([job()], () => false)).toEqual([]);
    expect(await after.inFlight.reconcileAgain([job()])).toEqual([]);
    after.behave(null);
    expect(await after.inFlight.reconcileAgain([job()])).toMatchObject([
      { job: "backup", row: { interruptedAt: NOON } },
    ]);
    expect(await after.inFlight.reconcileAgain([job()])).toEqual([]);
  });

  test("a job that had a run again before the look is closed later: its own records are told apart by their daemon", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    const after = await before.restart("new", ["backup"]);
    expect(after.found).toEqual([]);
    expect(await after.inFlight.reconcileAgain([job()])).toMatchObject([
      { job: "backup", row: { interruptedAt: NOON } },
    ]);
  });

  test("a run is told from another one that started in the same instant, here or on another host", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    before.ledger.record("backup", ran(NOON + second, { runId: "r2", startedAt: NOON }));
    const after = await before.restart("new");
    expect(after.found).toMatchObject([{ job: "backup", row: { interruptedAt: NOON } }]);
  });

  test.each([
    ["fails", { kind: "fail", message: "the disk is full" }],
    ["is not answered, and landed", { kind: "silent", lands: true }],
    ["is not answered, and did not land", { kind: "silent", lands: false }],
  ] as const)(
    "a cut run whose row %s keeps its record open until the row is there, and has one row",
    async (_, how) => {
      const before = daemon("nodea", "old");
      before.run("r1");
      await before.writes.flush(second);
      const after = daemon("nodea", "new", before);
      let appends = 0;
      after.behave((operation) => (operation === "append" && ++appends === 1 ? how : { kind: "answer" }));
      expect(await after.inFlight.reconcileHere([job()], () => false)).toHaveLength(1);
      await after.pass(60 * second);
      expect((await after.bodies("inflight/backup")).map(({ kind }) => kind)).toEqual(["open"]);
      expect(await after.inFlight.reconcileAgain([job()])).toEqual([]); // it has been told
      await after.pass(60 * second);
      expect((await after.bodies("inflight/backup")).map(({ kind }) => kind)).toEqual(["open", "closed"]);
      expect((await after.bodies("runs/backup")).map(({ outcome }) => outcome)).toEqual(["unknown"]);
      expect(await after.inFlight.reconcileAgain([job()])).toEqual([]);
    },
  );

  test("a ledger that cannot be read gives no second row to a run that may have one", async () => {
    const before = daemon("nodea", "old");
    before.run("r1");
    await before.writes.flush(second);
    const after = daemon("nodea", "new", before);
    let lists = 0;
    after.behave((operation) =>
      operation === "listRecords" && ++lists === 2 ? { kind: "fail", message: "the disk is full" } : { kind: "answer" },
    );
    expect(await after.inFlight.reconcileHere([job()], () => false)).toEqual([]);
    expect(await after.bodies("runs/backup")).toEqual([]);
    expect(await after.inFlight.reconcileAgain([job()])).toHaveLength(1);
  });
});

describe("F57: a run that outlived the daemon", () => {
  test("stays on record however many new runs end after it", async () => {
    const before = daemon("nodea", "old");
    before.exists(4711, NOON);
    before.run("r1");
    let after = await before.restart("new");
    for (let n = 0; n < 12; n++) {
      after.run(`n${n}`, 5000 + n);
      after.inFlight.ended("backup", `n${n}`);
    }
    after = await after.restart("newer");
    expect(after.inFlight.survivor("backup")).toEqual({ pid: 4711, startedAt: NOON });
  });

  test("gets its row when it has gone, without waiting for a restart", async () => {
    const before = daemon("nodea", "old");
    before.exists(4711, NOON);
    before.run("r1");
    const after = await before.restart("new");
    expect(after.inFlight.reconcileSurvivors([job()])).toEqual([]);
    after.dies(4711);
    expect(after.inFlight.reconcileSurvivors([job()])).toMatchObject([{ job: "backup", row: { kind: "interrupted" } }]);
    expect(after.inFlight.reconcileSurvivors([job()])).toEqual([]);
    await after.writes.flush(second);
    expect((await after.restart("newer")).found).toEqual([]);
  });
});

describe("INF-6: a cluster slot won fresh", () => {
  test("closes the run a foreign holder left open", async () => {
    const gone = daemon("nodeb", "theirs");
    gone.run("r1");
    await gone.writes.flush(second);
    const here = daemon("nodea", "ours", gone);
    expect(await here.inFlight.takeOver(job())).toMatchObject({
      row: { failReason: expect.stringContaining("on nodeb.") },
    });
    await here.writes.flush(second);
    expect((await here.bodies("inflight/backup")).at(-1)).toMatchObject({
      reason: "reconciled-takeover",
      host: "nodea",
    });
    expect(await here.inFlight.takeOver(job())).toBeNull();
  });

  test("its host, back again, does not reconcile it a second time", async () => {
    const gone = daemon("nodeb", "theirs");
    gone.run("r1");
    await gone.writes.flush(second);
    const here = daemon("nodea", "ours", gone);
    await here.inFlight.takeOver(job());
    await here.writes.flush(second);
    expect((await gone.restart("theirs-again")).found).toEqual([]);
  });

  test("looks at the newest record only, never at its own, and not at a live process of this host", async () => {
    const node = daemon("nodea", "ours");
    node.run("r1");
    await node.writes.flush(second);
    expect(await node.inFlight.takeOver(job())).toBeNull();
    const next = daemon("nodea", "next", node);
    next.exists(4711, NOON);
    expect(await next.inFlight.takeOver(job())).toBeNull();
    next.dies(4711);
    expect(await next.inFlight.takeOver(job())).toMatchObject({ job: "backup" });
  });
});

describe("a host that never comes back", () => {
  async function lostRun() {
    const gone = daemon("pod-7", "theirs");
    await gone.put(
      "manifests/pod-7",
      manifestRecord.encode({ at: NOON, host: "pod-7", jobSetId: "v1:0", jobs: ["backup"], scopes: [], dags: [] }),
    );
    gone.run("r1");
    await gone.writes.flush(second);
    return daemon("pod-8", "ours", gone);
  }
  const look = (node: ReturnType<typeof daemon>, upSince: number) => closeRunsOfLostHosts(node, upSince, [job()]);

  test("has its open run closed by a peer once its manifests have been silent for eighteen hours", async () => {
    const node = await lostRun();
    await node.pass(HOST_SILENCE_MS);
    expect(await look(node, NOON)).toEqual([]);
    await node.pass(second);
    expect(await look(node, NOON)).toMatchObject([
      { job: "backup", row: { failReason: expect.stringContaining("on pod-7.") } },
    ]);
    expect((await node.bodies("inflight/backup")).at(-1)).toMatchObject({
      reason: "reconciled-takeover",
      of: { host: "pod-7" },
    });
    expect(await look(node, NOON)).toEqual([]);
    expect(await node.bodies("runs/backup")).toHaveLength(1);
  });

  test("is not judged by a node that came up after the silence, before every living host has had time to write", async () => {
    const node = await lostRun();
    await node.pass(2 * HOST_SILENCE_MS);
    expect(await look(node, node.clock.wallNow() - HOST_WATCH_MS + 1)).toEqual([]);
    expect(await look(node, node.clock.wallNow() - HOST_WATCH_MS)).toHaveLength(1);
  });

  test("keeps a long run while its manifests go on", async () => {
    const node = await lostRun();
    await node.pass(3 * HOST_SILENCE_MS);
    const at = node.clock.wallNow() - second;
    await node.put(
      "manifests/pod-7",
      manifestRecord.encode({ at, host: "pod-7", jobSetId: "v1:0", jobs: [], scopes: [], dags: [] }),
    );
    expect(await look(node, NOON)).toEqual([]);
  });

  test("is looked after by one node at a time", async () => {
    const node = await lostRun();
    await node.pass(2 * HOST_SILENCE_MS);
    await node.store.leases.acquire("lost-hosts", "pod-9#other", 30_000);
    expect(await look(node, NOON)).toEqual([]);
  });

  test("is left alone when the store cannot tell", async () => {
    const node = await lostRun();
    await node.pass(2 * HOST_SILENCE_MS);
    node.behave(failing("listRecords"));
    expect(await look(node, NOON)).toEqual([]);
  });
});

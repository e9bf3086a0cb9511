import { describe, expect, test } from "vitest";
import type { Standing } from "../../../src/journal/catchup/backfill.rules.ts";
import { createCatchUp } from "../../../src/journal/catchup/catchup.ts";
import { createCheckpoints } from "../../../src/journal/catchup/checkpoints.ts";
import { startOffsetMs } from "../../../src/journal/catchup/jitter.ts";
import { createLedger } from "../../../src/journal/ledger/ledger.ts";
import { runRecord } from "../../../src/journal/ledger/run-record.ts";
import { pauseRecord } from "../../../src/journal/pauses/pause-record.ts";
import { parseSchedule } from "../../../src/schedule/expression.ts";
import { utcZone } from "../../../src/schedule/zone.ts";
import { failing, hanging, type JournalBench, journalBench } from "../support/journal-bench.ts";
import { ran } from "../support/rows.ts";

const at = (time: string): number => Date.parse(`2026-11-30T${time}Z`);
const second = 1000;

interface Options {
  readonly onMissed?: "run-once" | "run-all";
  readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
  readonly jitterSeconds?: number;
  readonly deadlineSeconds?: number | null;
  /** How long each run takes. */
  readonly runSeconds?: number;
}

/** A daemon that has just come up at 12:05:30, with a per-minute job, and a scheduler that only does as it is told. */
function daemon(options: Options = {}, shared: Partial<JournalBench> = { topology: "single-node" }) {
  const bench = journalBench({ at: "2026-11-30T12:05:30Z", ...shared });
  const { backend, writes, clock, log } = bench;
  const ledger = createLedger({ backend, writes, maxRunsPerJob: () => 1000 });
  const checkpoints = createCheckpoints({ backend, writes, clock });
  const {
    onMissed = "run-all",
    concurrencyPolicy = "Allow",
    jitterSeconds = 0,
    deadlineSeconds = null,
    runSeconds = 1,
  } = options;
  const policy = {
    onMissed,
    schedule: parseSchedule("* * * * *"),
    zone: utcZone,
    startingDeadlineSeconds: deadlineSeconds,
    offsetMs: startOffsetMs("backup", jitterSeconds),
    concurrencyPolicy,
  };
  let standing: Standing = { policy, owner: "here", paused: false };
  let refuse = false;
  const live = new Set<number>();
  const waiting = new Set<() => void>();
  const launches: string[] = [];
  let runs = 0;

  /** A run of the job, whoever starts it. */
  const run = (seconds: number): void => {
    const id = runs++;
    const startedAt = clock.wallNow();
    live.add(id);
    catchUp.started("backup", startedAt);
    clock.after(seconds * second, () => {
      live.delete(id);
      const row = ran(clock.wallNow(), { startedAt, outcome: "failure" });
      ledger.record("backup", row, catchUp.covered("backup"));
      if (live.size === 0) for (const call of [...waiting]) call();
    });
  };

  const catchUp = createCatchUp({
    backend,
    ledger,
    checkpoints,
    clock,
    log,
    awaitsStart: true,
    host: {
      standing: () => standing,
      async launch(_job, slot) {
        if (refuse) return false;
        launches.push(`${time(clock.wallNow())} for ${time(slot)}`);
        run(runSeconds);
        return true;
      },
      whenIdle(_job, call) {
        if (live.size === 0) call();
        else waiting.add(call);
        return () => void waiting.delete(call);
      },
    },
  });

  return {
    ...bench,
    catchUp,
    launches,
    run,
    runEndedAt: (time: string) => bench.put("runs/backup", runRecord.encode(ran(at(time)))),
    begin: (now = "12:05:30") => catchUp.begin([{ name: "backup", catchesUp: standing.policy !== null }], at(now)),
    rows: async () => (await bench.bodies("runs/backup")).length,
    set(over: Partial<Standing>) {
      standing = { ...standing, ...over };
    },
    refuse(yes: boolean) {
      refuse = yes;
    },
    until: (clockTime: string) => clock.runUntilSettled(at(clockTime)),
    checkpoints: async () =>
      (await bench.bodies("catchup/backup")).map(({ kind, watermark }) => `${kind} ${String(watermark).slice(11, 19)}`),
  };
}

function time(instant: number): string {
  return new Date(instant).toISOString().slice(11, 19);
}

describe("CAT: start after downtime", () => {
  test("CAT-14: run-all makes up for each missed slot, one after another, between an open and a close", async () => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    node.begin();
    await node.until("12:06:00");
    expect(node.launches).toEqual(["12:05:30 for 12:03:00", "12:05:31 for 12:04:00", "12:05:32 for 12:05:00"]);
    expect(await node.checkpoints()).toEqual(["open 12:02:00", "close 12:02:00"]);
    expect(node.logged).toEqual(["INFO catch-up: replaying 3 missed run(s) for backup"]);
  });

  test("CAT-6: the open checkpoint is on disk before the first launch", async () => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    node.behave((operation) => (operation === "append" ? { kind: "slow", delayMs: 3 * second } : { kind: "answer" }));
    node.begin();
    await node.until("12:05:32");
    expect(node.launches).toEqual([]);
    await node.until("12:05:34");
    expect(node.launches[0]).toBe("12:05:33 for 12:03:00");
  });

  test("CAT-6: without it nothing is launched; the evaluation waits with the same bounds", async () => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    node.behave(failing("append"));
    node.begin();
    await node.until("12:20:00");
    expect([node.launches, node.drops.counts().checkpoint > 1]).toEqual([[], true]);
    node.behave(null);
    await node.until("12:21:00");
    expect(node.launches).toHaveLength(3);
  });

  test("run-once makes one run for all of them", async () => {
    const node = daemon({ onMissed: "run-once" });
    await node.runEndedAt("12:02:00");
    node.begin();
    await node.until("12:06:00");
    expect(node.launches).toEqual(["12:05:30 for 12:05:00"]);
    expect(await node.checkpoints()).toEqual(["open 12:02:00", "close 12:02:00"]);
  });

  test("CAT-2: a job that never ran owes nothing and writes nothing", async () => {
    const node = daemon();
    node.begin();
    await node.until("12:06:00");
    expect([node.launches, await node.checkpoints()]).toEqual([[], []]);
  });

  test("CAT-4: the first launch waits for the job's offset", async () => {
    const node = daemon({ jitterSeconds: 300 });
    await node.runEndedAt("12:02:00");
    node.begin();
    const offset = startOffsetMs("backup", 300);
    await node.pass(offset - 1);
    expect(node.launches).toEqual([]);
    await node.pass(1 + second);
    expect(node.launches.length).toBeGreaterThan(0);
  });

  test("run-all: more than a hundred are dropped with a warning", async () => {
    const node = daemon({ runSeconds: 0 });
    await node.runEndedAt("00:00:00");
    node.begin();
    await node.until("12:06:00");
    expect(node.launches).toHaveLength(100);
    expect(node.logged).toEqual([
      "WARNING catch-up: backup missed more than 100 runs; replaying the oldest 100 and dropping the rest",
      "INFO catch-up: replaying 100 missed run(s) for backup",
    ]);
  });

  test("CAT-6: a restart in the middle resumes from the open checkpoint's watermark, although runs have been recorded since", async () => {
    const node = daemon({ runSeconds: 20 });
    await node.runEndedAt("12:02:00");
    node.begin();
    await node.until("12:06:00"); // two of three have been launched
    expect(node.launches).toHaveLength(2);
    node.catchUp.stop();
    const next = daemon({}, node);
    next.begin();
    await next.until("12:07:00");
    expect(next.launches).toHaveLength(3); // CAT-9: at least once
    expect((await next.checkpoints()).at(-1)).toBe("close 12:02:00");
  });

  test("and so does one in the middle of the offset", async () => {
    const node = daemon({ jitterSeconds: 300 });
    await node.runEndedAt("12:02:00");
    node.begin();
    await node.pass(second);
    node.catchUp.stop();
    await node.runEndedAt("12:05:40"); // the live scheduler went on
    const next = daemon({}, node);
    next.begin();
    await next.until("12:06:00");
    expect(next.launches).toHaveLength(3);
  });

  test("CAT-8: an evaluation that owes nothing closes an open checkpoint", async () => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    await node.put("catchup/backup", {
      at: "2026-11-30T12:05:29+00:00",
      kind: "open",
      watermark: "2026-11-30T12:05:10+00:00",
    });
    await node.runEndedAt("12:05:20");
    node.begin();
    await node.until("12:06:00");
    expect([node.launches, await node.checkpoints()]).toEqual([[], ["open 12:05:10", "close 12:05:10"]]);
  });

  test("F07: skip owes nothing, but a checkpoint it still carries is closed", async () => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    await node.put("catchup/backup", {
      at: "2026-11-30T12:05:29+00:00",
      kind: "open",
      watermark: "2026-11-30T12:02:00+00:00",
    });
    node.set({ policy: null });
    node.begin();
    await node.until("12:06:00");
    expect([node.launches, await node.checkpoints()]).toEqual([[], ["open 12:02:00", "close 12:02:00"]]);
  });

  test("CAT-12: after three failed attempts to close it is left, with a warning", async () => {
    const node = daemon();
    await node.put("catchup/backup", {
      at: "2026-11-30T12:05:29+00:00",
      kind: "open",
      watermark: "2026-11-30T12:02:00+00:00",
    });
    node.set({ policy: null });
    node.behave(failing("append"));
    node.begin();
    await node.until("12:10:00");
    expect(node.drops.counts().checkpoint).toBe(3);
    expect(node.logged.at(-1)).toBe(
      "WARNING catch-up: the checkpoint of backup could not be closed; the next start looks at it again",
    );
  });
});

describe("CAT-10: backfilled launches", () => {
  test("are serialized: each waits until the job is idle", async () => {
    const node = daemon({ runSeconds: 25 });
    await node.runEndedAt("12:02:00");
    node.begin();
    await node.until("12:08:00");
    expect(node.launches).toEqual(["12:05:30 for 12:03:00", "12:05:55 for 12:04:00", "12:06:20 for 12:05:00"]);
  });

  test("Forbid waits for as long as it takes, the others thirty seconds", async () => {
    const forbid = daemon({ runSeconds: 600, concurrencyPolicy: "Forbid" });
    await forbid.runEndedAt("12:03:00");
    forbid.begin();
    await forbid.until("12:15:00");
    expect(forbid.launches).toEqual(["12:05:30 for 12:04:00"]);
    await forbid.until("12:16:00");
    expect(forbid.launches).toHaveLength(2);
    const allow = daemon({ runSeconds: 600 });
    await allow.runEndedAt("12:03:00");
    allow.begin();
    await allow.until("12:07:00");
    expect(allow.launches).toEqual(["12:05:30 for 12:04:00", "12:06:00 for 12:05:00"]);
  });

  test("one that is refused is tried again, and no slot is lost", async () => {
    const node = daemon();
    await node.runEndedAt("12:03:00");
    node.refuse(true);
    node.begin();
    await node.until("12:07:00");
    expect([node.launches, await node.checkpoints()]).toEqual([[], ["open 12:03:00"]]);
    node.refuse(false);
    await node.until("12:08:00");
    expect(node.launches).toHaveLength(2);
  });
});

describe("CAT-12: what cannot be decided now", () => {
  test.each([
    [
      "no backend",
      (node: ReturnType<typeof daemon>) => node.unplug(),
      (node: ReturnType<typeof daemon>) => node.plugIn(),
    ],
    ["a read that fails", (node) => node.behave(failing("maxOfField")), (node) => node.behave(null)],
    ["a store that hangs", (node) => node.behave(hanging("listRecords")), (node) => node.behave(null)],
    ["an owner that is not clear", (node) => node.set({ owner: "unclear" }), (node) => node.set({ owner: "here" })],
  ])("%s: is looked at again, CAT-11 with the instant of the first attempt", async (_, trouble, over) => {
    const node = daemon();
    await node.runEndedAt("12:03:00");
    trouble(node);
    node.begin();
    await node.until("12:30:00");
    expect(node.launches).toEqual([]);
    over(node);
    await node.until("12:31:30");
    expect(node.launches.map((launch) => launch.slice(9))).toEqual(["for 12:04:00", "for 12:05:00"]);
  });

  test("CAT-11: runs that the live scheduler makes while the store cannot be read do not hide what was missed", async () => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    node.behave((operation) =>
      operation === "listRecords" ? { kind: "fail", message: "the disk is full" } : { kind: "answer" },
    );
    node.begin();
    await node.until("12:06:00");
    node.run(1);
    await node.until("12:06:10");
    node.behave(null);
    await node.until("12:07:00");
    expect(node.launches.map((launch) => launch.slice(-8))).toEqual(["12:03:00", "12:04:00", "12:05:00"]);
  });

  test.each([
    ["it cannot be read", () => failing("maxOfField")],
    ["its checkpoint cannot be opened", () => failing("append")],
  ])(
    "CAT-1: while what was missed is not on record, as %s, no row hides it from the start after a crash",
    async (_, trouble) => {
      const node = daemon();
      await node.runEndedAt("12:02:00");
      node.behave(trouble());
      node.begin();
      await node.until("12:06:00");
      node.behave(null); // the next look is in half a minute
      node.run(1);
      await node.until("12:06:10");
      expect(await node.rows()).toBe(1);
      node.catchUp.stop(); // as a crash does
      const next = daemon({}, node);
      next.begin("12:06:10");
      await next.until("12:07:00");
      expect(next.launches.map((launch) => launch.slice(-8))).toEqual(["12:03:00", "12:04:00", "12:05:00", "12:06:00"]);
    },
  );

  test.each([
    ["single-node", ["12:06:00", "12:07:00"], ["open 12:05:50", "close 12:05:50"]],
    ["shared", [], []],
  ] as const)("CAT-1: nor does one that ends while the daemon stops, on a %s store", async (topology, owed, kept) => {
    const node = daemon({}, { topology });
    await node.runEndedAt("12:05:20");
    node.begin();
    node.run(100);
    await node.until("12:05:50");
    node.catchUp.stop();
    await node.until("12:07:20");
    expect(await node.rows()).toBe(2);
    const next = daemon({}, { ...node, topology });
    next.begin("12:07:20");
    await next.until("12:07:50");
    expect(next.launches.map((launch) => launch.slice(-8))).toEqual(owed);
    expect(await next.checkpoints()).toEqual(kept);
  });

  test("and one that ends before a slot has come needs none", async () => {
    const node = daemon();
    await node.runEndedAt("12:05:20");
    node.begin();
    node.run(15);
    await node.pass(second);
    node.catchUp.stop();
    await node.until("12:05:55");
    expect([await node.rows(), await node.checkpoints()]).toEqual([2, []]);
  });

  test("CAT-1: nor does one of before the look begins; it is written when that is over", async () => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    node.run(1);
    await node.until("12:05:40");
    expect(await node.rows()).toBe(1);
    node.begin();
    await node.until("12:06:00");
    expect([node.launches.length, await node.rows()]).toEqual([3, 5]);
  });

  test.each([
    ["the job does not catch up", { policy: null }],
    ["no owner is clear", { owner: "unclear" as const }],
  ])("rows do not wait where %s", async (_, how) => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    node.set(how);
    node.begin();
    node.run(1);
    await node.until("12:05:40");
    expect(await node.rows()).toBe(2);
  });

  test("CAT-5: an owner elsewhere replays it; here it is done with", async () => {
    const node = daemon();
    await node.runEndedAt("12:03:00");
    node.set({ owner: "elsewhere" });
    node.begin();
    await node.until("12:06:00");
    node.set({ owner: "here" });
    await node.until("12:10:00");
    expect(node.launches).toEqual([]);
    expect(node.logged).toEqual(["INFO catch-up: backup belongs to another node, which replays what it missed"]);
  });
});

describe("CAT-13: a paused job", () => {
  const pause = (since: string, until: string) =>
    pauseRecord.encode({
      kind: "paused",
      since: at(since),
      until: at(until),
      note: "",
      by: "api",
      channel: "api",
      host: "nodea",
      at: at(since),
    });

  test("waits; what was owed before the pause is pinned, and made up for when it ends", async () => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    await node.put("paused/backup", pause("12:04:30", "12:10:00"));
    node.set({ paused: true });
    node.begin();
    await node.until("12:09:00");
    expect([node.launches, await node.checkpoints()]).toEqual([[], ["open 12:02:00"]]);
    node.set({ paused: false });
    await node.until("12:12:00");
    expect(node.launches.map((launch) => launch.slice(9))).toEqual(["for 12:03:00", "for 12:04:00"]);
    expect((await node.checkpoints()).at(-1)).toBe("close 12:02:00");
  });

  test("whose pause was ended early owes again from there on", async () => {
    const node = daemon();
    await node.runEndedAt("12:00:00");
    await node.put("paused/backup", pause("11:30:00", "13:00:00"));
    await node.put(
      "paused/backup",
      pauseRecord.encode({ kind: "resumed", by: "api", channel: "api", host: "nodea", at: at("12:04:00") }),
    );
    node.begin();
    await node.until("12:06:00");
    expect(node.launches.map((launch) => launch.slice(9))).toEqual(["for 12:04:00", "for 12:05:00"]);
  });

  test.each([
    ["a pause", { paused: true }, "it is paused"],
    ["a change of ownership", { owner: "elsewhere" as const }, "it belongs to another node now"],
    ["an edit that ends catching up", { policy: null }, "it does not catch up any more"],
  ])(
    "CAT-7, CAT-14: %s in the middle stops it and leaves its checkpoint open for the next start",
    async (_, change, because) => {
      const node = daemon({ runSeconds: 10 });
      await node.runEndedAt("12:02:00");
      node.begin();
      await node.until("12:05:35");
      node.set(change);
      await node.until("12:10:00");
      expect(node.launches).toHaveLength(1);
      expect(await node.checkpoints()).toEqual(["open 12:02:00"]);
      expect(node.logged.at(-1)).toBe(`INFO catch-up: stopped replaying missed runs of backup: ${because}`);
      const next = daemon({}, node);
      next.begin();
      await next.until("12:12:00");
      expect(next.launches).toHaveLength(3);
    },
  );

  test("CAT-5: ownership that moves while the offset runs stops it as well", async () => {
    const node = daemon({ jitterSeconds: 300 });
    await node.runEndedAt("12:02:00");
    node.begin();
    await node.pass(second);
    node.set({ owner: "elsewhere" });
    await node.pass(300 * second);
    expect([node.launches, await node.checkpoints()]).toEqual([[], ["open 12:02:00"]]);
  });
});

describe("CAT-20: a running daemon that slept", () => {
  test("CAT-22: run-all makes up for the skipped slots and not for the one that fires as usual", async () => {
    const node = daemon();
    node.catchUp.gap("backup", at("12:02:00"), at("12:05:00"));
    node.run(1); // the current slot
    await node.until("12:06:00");
    expect(node.launches.map((launch) => launch.slice(9))).toEqual(["for 12:02:00", "for 12:03:00", "for 12:04:00"]);
  });

  test("CAT-2: it needs no run on record", async () => {
    const node = daemon({ onMissed: "run-once" });
    node.catchUp.gap("backup", at("12:02:00"), at("12:05:00"));
    await node.until("12:06:00");
    expect(node.launches).toEqual(["12:05:30 for 12:04:00"]);
  });

  test("CAT-22: any actual start satisfies run-once, also one that fails", async () => {
    const node = daemon({ onMissed: "run-once" });
    node.catchUp.gap("backup", at("12:02:00"), at("12:05:00"));
    node.run(1);
    await node.until("12:07:00");
    expect(node.launches).toEqual([]);
  });

  test("CAT-22: a recovery that waits for its offset checks again before it launches", async () => {
    const node = daemon({ onMissed: "run-once", jitterSeconds: 300 });
    node.catchUp.gap("backup", at("12:02:00"), at("12:05:00"));
    await node.pass(second);
    expect(await node.checkpoints()).toEqual(["open 12:01:59"]);
    node.run(1);
    await node.pass(300 * second);
    expect([node.launches, (await node.checkpoints()).at(-1)]).toEqual([[], "close 12:01:59"]);
  });

  test("CAT-22: and so does one that waits for the job to go idle", async () => {
    const node = daemon({ onMissed: "run-once" });
    node.run(300); // began before the gap was noticed
    node.catchUp.gap("backup", at("12:05:31"), at("12:06:31"));
    await node.until("12:05:45");
    expect(await node.checkpoints()).toEqual(["open 12:05:30"]);
    node.run(1);
    await node.until("12:15:00");
    expect([node.launches, (await node.checkpoints()).at(-1)]).toEqual([[], "close 12:05:30"]);
  });

  test("CAT-21: gaps stay apart, and one that waits does not grow over later fires", async () => {
    const node = daemon();
    node.behave(failing("maxOfField"));
    node.catchUp.gap("backup", at("12:01:00"), at("12:02:00"));
    node.catchUp.gap("backup", at("12:04:00"), at("12:05:00"));
    await node.until("12:30:00");
    node.behave(null);
    await node.until("12:32:00");
    expect(node.launches.map((launch) => launch.slice(9))).toEqual(["for 12:01:00", "for 12:04:00"]);
    // The end of one is the beginning of the next on disk: no crash falls in between.
    expect(await node.checkpoints()).toEqual(["open 12:00:59", "open 12:03:59", "close 12:03:59"]);
  });

  test("CAT-23: a cycle whose close is lost is not made up for again by the next gap", async () => {
    const node = daemon();
    await node.runEndedAt("12:02:00");
    node.begin();
    await node.until("12:05:32");
    node.behave(failing("append"));
    await node.until("12:10:00");
    expect(node.logged.at(-1)).toContain("could not be closed");
    node.behave(null);
    node.catchUp.gap("backup", at("12:08:00"), at("12:10:00"));
    await node.until("12:12:00");
    expect(node.launches.map((launch) => launch.slice(13))).toEqual([
      "12:03:00",
      "12:04:00",
      "12:05:00",
      "12:08:00",
      "12:09:00",
    ]);
    expect((await node.checkpoints()).at(-1)).toBe("close 12:07:59");
  });

  test("CAT-21: of more than a hundred the oldest that waits is dropped with a warning", async () => {
    const node = daemon();
    node.unplug();
    for (let n = 0; n < 102; n++)
      node.catchUp.gap("backup", at("10:00:00") + n * 60 * second, at("10:01:00") + n * 60 * second);
    node.plugIn();
    await node.until("12:20:00");
    expect(node.logged.filter((line) => line.startsWith("WARNING"))).toEqual(
      Array(2).fill("WARNING catch-up: too many pending resume windows for backup; dropping the oldest window"),
    );
    expect(node.launches).toHaveLength(100);
    expect(node.launches[1]).toContain("for 10:03:00");
  });

  test("CAT-23: one backfill of a job at a time, an unfinished one of the start included", async () => {
    const node = daemon({ runSeconds: 10 });
    await node.runEndedAt("12:03:00");
    node.begin();
    node.catchUp.gap("backup", at("11:00:00"), at("11:01:00"));
    await node.until("12:08:00");
    expect(node.launches).toEqual(["12:05:30 for 12:04:00", "12:05:40 for 12:05:00", "12:05:50 for 11:00:00"]);
  });

  test("CAT-25: of a paused job it is pinned by its own start", async () => {
    const node = daemon();
    node.set({ paused: true });
    node.catchUp.gap("backup", at("12:02:00"), at("12:05:00"));
    await node.pass(second);
    expect(await node.checkpoints()).toEqual(["open 12:01:59"]);
  });
});

test("a stop ends every wait", async () => {
  const node = daemon({ jitterSeconds: 300 });
  await node.runEndedAt("12:02:00");
  node.begin();
  await node.pass(second);
  node.catchUp.stop();
  await node.pass(3600 * second);
  expect([node.launches, node.clock.pending]).toEqual([[], 0]);
});

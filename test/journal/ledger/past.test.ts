import { describe, expect, test } from "vitest";
import { createLedger } from "../../../src/journal/ledger/ledger.ts";
import { judgePast, type LedgerVerdict, type PastFacts, type Verdict } from "../../../src/journal/ledger/past.rules.ts";
import { askPast } from "../../../src/journal/ledger/past.ts";
import { runRecord } from "../../../src/journal/ledger/run-record.ts";
import { whenUnavailable } from "../../../src/journal/unavailable.rules.ts";
import { failing, journalBench, NOON } from "../support/journal-bench.ts";
import { failed, ran } from "../support/rows.ts";

const ok = (finishedAt: number): Verdict => ({ outcome: "success", finishedAt });
const bad = (finishedAt: number): Verdict => ({ outcome: "failure", finishedAt });
const facts = (over: Partial<PastFacts> = {}): PastFacts => ({
  concurrencyPolicy: "Allow",
  running: false,
  memory: null,
  ...over,
});
const known = (verdict: Verdict | null): LedgerVerdict => ({ kind: "known", verdict });
const none: LedgerVerdict = { kind: "none kept" };
const away: LedgerVerdict = { kind: "unavailable" };

describe("DEP: onlyIfLastSucceeded", () => {
  test.each<[string, PastFacts, LedgerVerdict, string]>([
    ["DEP-1: the last run failed", facts({ memory: bad(1) }), known(null), "last run failed"],
    ["DEP-1: the last run succeeded", facts({ memory: ok(1) }), known(null), "allows"],
    ["DEP-2: the ledger knows a newer success, of another node", facts({ memory: bad(1) }), known(ok(2)), "allows"],
    ["DEP-2: the ledger knows a newer failure", facts({ memory: ok(1) }), known(bad(2)), "last run failed"],
    ["DEP-2: memory is ahead of the ledger", facts({ memory: ok(3) }), known(bad(2)), "allows"],
    ["DEP-7: at equal instants memory decides", facts({ memory: ok(2) }), known(bad(2)), "allows"],
    ["DEP-3: a run still goes on", facts({ running: true, memory: ok(1) }), known(ok(1)), "still running"],
    ["DEP-3: under Forbid too", facts({ running: true, concurrencyPolicy: "Forbid" }), none, "still running"],
    [
      "DEP-3: under Replace the last finished run decides",
      facts({ running: true, concurrencyPolicy: "Replace", memory: ok(1) }),
      none,
      "allows",
    ],
    [
      "DEP-3: under Replace a failure still blocks",
      facts({ running: true, concurrencyPolicy: "Replace", memory: bad(1) }),
      none,
      "last run failed",
    ],
    ["DEP-4: no run before", facts(), known(null), "allows"],
    ["CFG-3: without a store memory decides", facts({ memory: bad(1) }), none, "last run failed"],
  ])("%s", (_, seen, ledger, expected) => {
    const past = judgePast(seen, ledger, "fail-closed");
    expect(past.kind === "allows" ? past.kind : past.because).toBe(expected);
  });

  test("DEP-6: an unreadable ledger: degrade decides from memory, fail-closed blocks", () => {
    expect(judgePast(facts({ memory: ok(1) }), away, "degrade")).toEqual({ kind: "allows" });
    expect(judgePast(facts({ memory: bad(1) }), away, "degrade")).toEqual({
      kind: "blocks",
      because: "last run failed",
    });
    expect(judgePast(facts({ memory: ok(1) }), away, "fail-closed")).toEqual({
      kind: "blocks",
      because: "store unavailable",
    });
  });
});

describe("DEP-7: asking the ledger", () => {
  function start() {
    const bench = journalBench();
    return {
      ...bench,
      ledger: createLedger({ backend: bench.backend, writes: bench.writes, maxRunsPerJob: () => 1000 }),
    };
  }

  test("RUN-3: judges an inverted pair by its finish instants", async () => {
    const { ledger, put } = start();
    await put("runs/backup", runRecord.encode(ran(NOON + 1000)));
    await put("runs/backup", runRecord.encode(failed(NOON)));
    expect(await askPast(ledger, "backup", () => facts(), "degrade")).toEqual({ kind: "allows" });
  });

  test("UNA-1: blocks under fail-closed also while there is no backend", async () => {
    const { ledger, unplug } = start();
    unplug();
    expect(await askPast(ledger, "backup", () => facts(), "fail-closed")).toEqual({
      kind: "blocks",
      because: "store unavailable",
    });
    expect(await askPast(ledger, "backup", () => facts(), "degrade")).toEqual({ kind: "allows" });
  });

  test("reads nothing when a live run settles it", async () => {
    const { ledger, behave } = start();
    behave(failing());
    expect(await askPast(ledger, "backup", () => facts({ running: true }), "fail-closed")).toEqual({
      kind: "blocks",
      because: "still running",
    });
  });

  test("counts what happened while it read", async () => {
    const { ledger } = start();
    let memory: Verdict | null = ok(1);
    const asked = askPast(ledger, "backup", () => facts({ memory }), "degrade");
    memory = bad(2);
    expect(await asked).toEqual({ kind: "blocks", because: "last run failed" });
  });
});

test("UNA-1: the table of what happens without the store, whole", () => {
  expect(whenUnavailable).toMatchInlineSnapshot(`
    {
      "boot marker": {
        "degrade": "run",
        "fail-closed": "skip",
      },
      "catch-up": {
        "degrade": "defer",
        "fail-closed": "defer",
      },
      "cluster slot": {
        "degrade": "launch under node-local policy",
        "fail-closed": "skip",
      },
      "coordinate retry": {
        "degrade": "launch",
        "fail-closed": "defer",
      },
      "dag claim": {
        "degrade": "retry later",
        "fail-closed": "retry later",
      },
      "depends-on-past": {
        "degrade": "judge from memory",
        "fail-closed": "block",
      },
      "job api": {
        "degrade": "answer 503",
        "fail-closed": "answer 503",
      },
      "pauses": {
        "degrade": "keep the last known",
        "fail-closed": "keep the last known",
      },
      "rehydrate history": {
        "degrade": "skip",
        "fail-closed": "skip",
      },
      "seed counters": {
        "degrade": "skip",
        "fail-closed": "skip",
      },
      "settle before retry": {
        "degrade": "launch",
        "fail-closed": "defer",
      },
      "trends": {
        "degrade": "answer from memory",
        "fail-closed": "answer from memory",
      },
      "write": {
        "degrade": "drop and count",
        "fail-closed": "drop and count",
      },
    }
  `);
});

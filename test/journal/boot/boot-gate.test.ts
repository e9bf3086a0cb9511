import { describe, expect, test } from "vitest";
import { createBootGate } from "../../../src/journal/boot/boot-gate.ts";
import { type Boot, type BootMarker, bootMarkerRecord, isCovered } from "../../../src/journal/boot/boot-marker.ts";
import type { Survivor } from "../../../src/journal/inflight/inflight.ts";
import type { UnavailablePolicy } from "../../../src/journal/unavailable.rules.ts";
import { encodeJson } from "../../../src/store/json-text.ts";
import { failing, hanging, type JournalBench, journalBench, NOON } from "../support/journal-bench.ts";

const second = 1000;
const boot: Boot = { bootId: "boot-1", bootTimeSeconds: 1_796_027_740.7591949 };

function daemon(
  over: {
    readonly policy?: UnavailablePolicy;
    readonly host?: string;
    readonly boot?: Boot;
    readonly survivor?: Survivor;
  } = {},
  shared: Partial<JournalBench> = {},
) {
  const bench = journalBench(shared);
  const { backend, writes, clock, log } = bench;
  const gate = createBootGate({
    host: over.host ?? "nodea",
    boot: over.boot ?? boot,
    backend,
    writes,
    inFlight: { survivor: () => over.survivor ?? null },
    policy: () => over.policy ?? "degrade",
    clock,
    log,
  });
  return { ...bench, gate, admit: (digest = "d1", job = "warm-up") => gate.admit(job, digest) };
}

const run = { kind: "run" };
const skip = (because: string) => ({ kind: "skip", because });

describe("BOO-1: once per boot and host", () => {
  test("BOO-3: the marker is on disk before the run", async () => {
    const node = daemon();
    expect(await node.admit()).toEqual(run);
    const [body] = await node.bodies("reboot/warm-up");
    expect(encodeJson(body ?? null)).toEqual({
      kind: "text",
      text: '{"at":"2026-11-30T12:00:00+00:00","bootId":"boot-1","bootTime":1796027740.7591949,"host":"nodea","jobDigest":"d1"}',
    });
  });

  test("the next daemon start of this boot skips it", async () => {
    const before = daemon();
    await before.admit();
    const after = daemon({}, before);
    expect(await after.admit()).toEqual(skip("already ran"));
    expect(after.logged).toEqual([
      "INFO Job warm-up (@reboot) already ran during this OS boot; skipping (state-backed dedupe)",
    ]);
    expect(await after.bodies("reboot/warm-up")).toHaveLength(1);
  });

  test("another boot runs it, BOO-4: a redefined job runs again, another host has its own boots", async () => {
    const before = daemon();
    await before.admit();
    expect(await daemon({ boot: { ...boot, bootId: "boot-2" } }, before).admit()).toEqual(run);
    const other = daemon();
    await other.admit();
    expect(await daemon({}, other).admit("d2")).toEqual(run);
    expect(await daemon({ host: "nodeb" }, other).admit()).toEqual(run);
  });
});

describe("BOO-2, BOO-8: what decides", () => {
  const marker = (over: Partial<BootMarker>): BootMarker => ({
    ...boot,
    host: "nodea",
    jobDigest: "d1",
    at: NOON,
    ...over,
  });

  test("the newest marker of this host", () => {
    expect(isCovered([marker({ host: "nodeb" }), marker({})], "nodea", "d1", boot)).toBe(true);
    expect(isCovered([marker({ jobDigest: "d2" }), marker({})], "nodea", "d1", boot)).toBe(false);
    expect(isCovered([], "nodea", "d1", boot)).toBe(false);
  });

  test.each<[string, Boot, Boot, boolean]>([
    ["one boot id", { bootId: "a", bootTimeSeconds: 0 }, { bootId: "a", bootTimeSeconds: 9e9 }, true],
    ["two boot ids at one time", { bootId: "a", bootTimeSeconds: 5 }, { bootId: "b", bootTimeSeconds: 5 }, false],
    [
      "a minute apart, one without id",
      { bootId: null, bootTimeSeconds: 100 },
      { bootId: "b", bootTimeSeconds: 160 },
      true,
    ],
    ["more than that", { bootId: null, bootTimeSeconds: 100 }, { bootId: null, bootTimeSeconds: 161 }, false],
    ["what nobody knows", { bootId: null, bootTimeSeconds: null }, { bootId: null, bootTimeSeconds: null }, false],
  ])("same boot: %s", (_, then, now, same) => expect(isCovered([marker(then)], "nodea", "d1", now)).toBe(same));

  test("a marker without its optional fields is still one", () => {
    expect(bootMarkerRecord.decode({ host: "nodea", jobDigest: "d1" })).toEqual({
      kind: "record",
      value: { at: 0, bootId: null, bootTimeSeconds: null, host: "nodea", jobDigest: "d1" },
    });
  });
});

test("BOO-5: a survivor of the previous daemon blocks a second run, and the markers stay as they are", async () => {
  const node = daemon({ survivor: { pid: 4711, startedAt: NOON } });
  expect(await node.admit()).toEqual(skip("still runs"));
  expect(await node.bodies("reboot/warm-up")).toEqual([]);
});

describe.each<[UnavailablePolicy, object]>([
  ["degrade", run],
  ["fail-closed", skip("store unavailable")],
])("BOO-6: under %s", (policy, verdict) => {
  test("an unreadable marker", async () => {
    const node = daemon({ policy });
    node.behave(failing("listRecords"));
    expect(await node.admit()).toEqual(verdict);
  });

  test("a marker that cannot be written", async () => {
    const node = daemon({ policy });
    node.behave(failing("append"));
    expect(await node.admit()).toEqual(verdict);
    expect(node.drops.counts()["reboot-marker"]).toBe(1);
  });

  test("a backend that is not there", async () => {
    const node = daemon({ policy });
    node.unplug();
    expect(await node.admit()).toEqual(verdict);
  });

  test("BOO-8: a store that does not answer once is not asked for the next jobs", async () => {
    const node = daemon({ policy });
    node.behave(hanging());
    const first = node.admit();
    await node.pass(10 * second);
    expect(await first).toEqual(verdict);
    expect(await node.admit("d1", "another")).toEqual(verdict);
  });
});

test("BOO-8: under fail-closed a write that was not answered is looked up once more", async () => {
  const landed = daemon({ policy: "fail-closed" });
  landed.behave((operation) => (operation === "append" ? { kind: "silent", lands: true } : { kind: "answer" }));
  const admitted = landed.admit();
  await landed.pass(10 * second);
  expect(await admitted).toEqual(run);
  const lost = daemon({ policy: "fail-closed" });
  lost.behave(hanging("append"));
  const refused = lost.admit();
  await lost.pass(10 * second);
  expect(await refused).toEqual(skip("store unavailable"));
});

test("RET-8: covered means that an earlier daemon ran it: not in doubt, and not by this process's own marker", async () => {
  const before = daemon();
  expect(await before.gate.covered("warm-up", "d1")).toBe(false);
  await before.admit();
  expect(await before.gate.covered("warm-up", "d1")).toBe(false);
  const after = daemon({}, before);
  expect(await after.gate.covered("warm-up", "d1")).toBe(true);
  expect(await after.gate.covered("warm-up", "d2")).toBe(false);
  after.behave(failing());
  expect(await after.gate.covered("warm-up", "d1")).toBe(false);
});

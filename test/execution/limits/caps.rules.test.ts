import { expect, test } from "vitest";
import type { ResourceLimits } from "../../../src/config/model.ts";
import { capSettings, type GroupFacts, limitsRecord, wasEntered } from "../../../src/execution/limits/caps.rules.ts";

const limits = (caps: Partial<ResourceLimits>): ResourceLimits => ({
  cpu: null,
  memoryBytes: null,
  processes: null,
  required: false,
  ...caps,
});
const facts = (some: Partial<GroupFacts> = {}): GroupFacts => ({
  memoryEvents: null,
  memoryPeak: null,
  cpuStat: null,
  pidsPeak: null,
  ...some,
});

test.each([
  { cpu: 0.5, text: "50000 100000" },
  { cpu: 2, text: "200000 100000" },
  { cpu: 1 / 3, text: "33333 100000" },
  { cpu: 0.0001, text: "1000 100000" }, // the least the kernel takes
])("cpu $cpu is written as $text", ({ cpu, text }) => {
  expect(capSettings(limits({ cpu }))).toEqual([
    { cap: "cpu", controller: "cpu", writes: [{ file: "cpu.max", text, optional: false }] },
  ]);
});

test("memory forbids swap and lets the whole run die at once", () => {
  expect(capSettings(limits({ memoryBytes: 64 * 2 ** 20 }))[0]?.writes).toEqual([
    { file: "memory.max", text: "67108864", optional: false },
    { file: "memory.swap.max", text: "0", optional: true },
    { file: "memory.oom.group", text: "1", optional: false },
  ]);
});

test("only what is asked for is set", () => {
  expect(capSettings(limits({}))).toEqual([]);
  expect(capSettings(limits({ processes: 5, cpu: 1 })).map((it) => it.controller)).toEqual(["cpu", "pids"]);
});

const events = (oom: number, oomKill: number, groupKill: number) =>
  `low 0\nhigh 0\nmax 12\noom ${oom}\noom_kill ${oomKill}\noom_group_kill ${groupKill}\n`;

test.each([
  { what: "the cap was reached and the run killed", text: events(1, 3, 1), exceeded: true },
  { what: "a kernel that counts no group kills", text: "max 1\noom 1\noom_kill 1\n", exceeded: true },
  { what: "the host ran out of memory", text: events(0, 1, 0), exceeded: false },
  { what: "the cap was reached, memory could be reclaimed", text: events(0, 0, 0), exceeded: false },
  { what: "the cap was reached, nothing was killed", text: events(1, 0, 0), exceeded: false },
  { what: "nothing is known", text: null, exceeded: false },
])("memory exceeded is $exceeded when $what", ({ text, exceeded }) => {
  const record = limitsRecord(limits({ memoryBytes: 2 ** 26 }), ["memory"], [], facts({ memoryEvents: text }));
  expect(record.memoryExceeded).toBe(exceeded);
});

test("the record has what held and what not, and numbers only for caps that held", () => {
  const known = facts({
    memoryEvents: events(1, 1, 1),
    memoryPeak: "67108864\n",
    cpuStat: "usage_usec 900\nthrottled_usec 1500000\n",
    pidsPeak: "7\n",
  });
  const asked = limits({ cpu: 0.5, memoryBytes: 2 ** 26, processes: 9 });
  const notEnforced = [{ cap: "memory" as const, reason: "not delegated" }];
  expect(limitsRecord(asked, ["cpu", "processes"], notEnforced, known)).toEqual({
    requested: { cpu: 0.5, memoryBytes: 2 ** 26, processes: 9 },
    enforced: ["cpu", "processes"],
    notEnforced,
    memoryExceeded: false,
    memoryPeakBytes: null,
    cpuThrottledSeconds: 1.5,
    processesPeak: 7,
  });
});

test("a group was entered when the kernel accounted anything to it", () => {
  expect(wasEntered(facts({ cpuStat: "usage_usec 0\nuser_usec 0\n" }))).toBe(false);
  expect(wasEntered(facts({ cpuStat: "usage_usec 1\n" }))).toBe(true);
  expect(wasEntered(facts({ cpuStat: "usage_usec 0\n", memoryPeak: "4096\n" }))).toBe(true);
  expect(wasEntered(facts({ pidsPeak: "0\n" }))).toBe(false);
});

import { expect, test } from "vitest";
import { liveOf, newAccount, usageOf, withReading } from "../../../src/execution/monitor/account.rules.ts";

const reading = (userSeconds: number, rssBytes: number, processes = 1) => ({
  id: 1,
  userSeconds,
  systemSeconds: 0.1,
  rssBytes,
  processes,
});
const at = (seconds: number) => ({ atElapsedMs: seconds * 1000, atSeconds: 1_800_000_000 + seconds });

test("nothing is known of a run that was never sampled", () => {
  expect(liveOf(newAccount(240))).toBeNull();
  expect(usageOf(newAccount(240))).toBeNull();
  expect(usageOf(withReading(newAccount(240), reading(0.5, 0, 0), at(0)))).toBeNull();
});

test("CPU percent is measured since the sample before and exceeds 100 with several cores", () => {
  const first = withReading(newAccount(240), reading(0.2, 100), at(0.01));
  expect(liveOf(first)).toMatchObject({ cpuPercent: 0, cpuSeconds: 0.3, rssBytes: 100 });
  const second = withReading(first, reading(2.2, 300), at(1.01));
  expect(liveOf(second)).toMatchObject({ cpuPercent: 200, cpuSeconds: 2.3, rssBytes: 300 });
});

test("the highest sum of memory stays, the last look after the end adds CPU alone", () => {
  const running = [reading(1, 500), reading(2, 200)].reduce(
    (account, it, second) => withReading(account, it, at(second + 0.123456)),
    newAccount(240),
  );
  expect(usageOf(withReading(running, reading(2.5, 0, 0), at(3)))).toEqual({
    cpuUserSeconds: 2.5,
    cpuSystemSeconds: 0.1,
    maxRssBytes: 500,
    samples: 2,
    series: [
      [1_800_000_000.12, 0, 500],
      [1_800_000_001.12, 100, 200],
    ],
  });
});

test("two readings within a clock tick keep the percentage of the one before", () => {
  const account = [reading(0, 1), reading(1, 1)].reduce((a, it, k) => withReading(a, it, at(k)), newAccount(0));
  expect(liveOf(withReading(account, reading(1.01, 1), at(1.005)))?.cpuPercent).toBe(100);
});

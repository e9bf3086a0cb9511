import fc from "fast-check";
import { expect, test } from "vitest";
import { afterFailure, freshLadder, type Ladder, resumedLadder, standsAt } from "../../src/scheduler/ladder.rules.ts";

test("RET-9: a resumed ladder stands where a ladder stands that failed as often here", () => {
  const delays = fc.integer({ min: 0, max: 1000 });
  const retry = fc.record({
    maximumRetries: fc.constant("unlimited" as const),
    initialDelaySeconds: delays,
    maximumDelaySeconds: fc.integer({ min: 1, max: 1000 }),
    backoffMultiplier: fc.constantFrom(0.5, 1, 1.5, 2, 10),
  });
  fc.assert(
    fc.property(retry, fc.integer({ min: 1, max: 20 }), (config, attempt) => {
      let ladder: Ladder | null = freshLadder(7, config);
      for (let n = 0; n < attempt; n++) {
        const follows = afterFailure(ladder, config, 5000);
        ladder = follows.next === "retry" ? follows.ladder : null;
      }
      const dueAt = ladder?.wait?.dueAt ?? 0;
      const resumed = resumedLadder(7, config, { attempt, dueAt, armedAt: 5000 });
      expect(resumed.delaySeconds).toBeCloseTo(ladder?.delaySeconds ?? Number.NaN, 6);
      expect(resumed.wait.delaySeconds).toBeCloseTo(ladder?.wait?.delaySeconds ?? Number.NaN, 6);
      expect({ ...resumed, delaySeconds: 0, wait: { ...resumed.wait, delaySeconds: 0 } }).toEqual({
        ...ladder,
        delaySeconds: 0,
        wait: { ...ladder?.wait, delaySeconds: 0 },
      });
    }),
  );
});

test("RET-9: a ladder that has come far is resumed at once", () => {
  const retry = {
    maximumRetries: "unlimited",
    initialDelaySeconds: 1,
    maximumDelaySeconds: 30,
    backoffMultiplier: 2,
  } as const;
  expect(resumedLadder(1, retry, { attempt: 1e15, dueAt: 9, armedAt: 1 })).toEqual({
    id: 1,
    count: 1e15,
    delaySeconds: 30,
    wait: { dueAt: 9, delaySeconds: 30, armedAt: 1, deferred: false },
    poolEpoch: null,
  });
});

test("RET-3: a retry that is being consumed is over when another run of its ladder fails meanwhile, also when the next one is due by then", () => {
  const retry = { maximumRetries: 5, initialDelaySeconds: 1, maximumDelaySeconds: 9, backoffMultiplier: 1 };
  const first = resumedLadder(1, retry, { attempt: 1, dueAt: 9, armedAt: 1 });
  const asking = { ...first, wait: null };
  const follows = afterFailure(asking, retry, 10);
  const next = follows.next === "retry" ? follows.ladder : null;
  const trigger = { kind: "retry", attempt: 1 } as const;
  expect(standsAt(asking, 1, trigger)).toBe(true);
  expect(standsAt(next, 1, trigger)).toBe(false);
  expect(standsAt(next === null ? null : { ...next, wait: null }, 1, trigger)).toBe(false);
  expect(standsAt(asking, 2, trigger)).toBe(false);
});

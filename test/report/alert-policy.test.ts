import fc from "fast-check";
import { expect, test } from "vitest";
import type { AlertPolicy } from "../../src/config/model.ts";
import {
  type AlertEvent,
  type AlertState,
  type AlertTell,
  alertStep,
  quiet,
} from "../../src/report/alert-policy.rules.ts";

const off: AlertPolicy = { afterFailures: 1, onRecovery: false, remindEverySeconds: null };

/** One letter per event a second apart, or `seconds` apart: F failed, S succeeded. Answers in the same form. */
function told(policy: Partial<AlertPolicy>, events: string, seconds = 1): string {
  let state: AlertState = quiet;
  return Array.from(events, (letter, index) => {
    const turn = alertStep(state, { ...off, ...policy }, { kind: letter === "F" ? "failed" : "succeeded", at: index * seconds * 1_000 }); // biome-ignore format: one line
    state = turn.state;
    return { no: ".", failure: "F", reminder: "r", recovery: "R" }[turn.tell];
  }).join("");
}

test.each([
  ["no policy: every failure", {}, "FFSFSSF", 1, "FF.F..F"],
  ["from the third failure in a row", { afterFailures: 3 }, "FFSFFFFSF", 1, ".....FF.."],
  ["recovery, once", { onRecovery: true }, "SFFSSFS", 1, ".FFR.FR"],
  ["no recovery of failures nobody heard of", { afterFailures: 3, onRecovery: true }, "FFSFFFSS", 1, ".....FR."],
  ["a reminder a minute", { remindEverySeconds: 60 }, "FFFFFFF", 20, "F..r..r"],
  ["a late failure is a reminder", { remindEverySeconds: 60 }, "FFF", 600, "Frr"],
  ["a success starts anew", { remindEverySeconds: 3_600 }, "FFSFF", 20, "F..F."],
  ["all together", { afterFailures: 2, onRecovery: true, remindEverySeconds: 60 }, "FFFFFSFSFF", 30, ".F.r.R...F"],
])("%s", (_what, policy, events, seconds, expected) => {
  expect(told(policy, events, seconds)).toBe(expected);
});

test("a clock that was set back does not silence reminders", () => {
  const policy = { ...off, remindEverySeconds: 60 };
  const first = alertStep(quiet, policy, { kind: "failed", at: 1_000_000 });
  expect(alertStep(first.state, policy, { kind: "failed", at: 0 }).tell).toBe("reminder");
});

const events = fc.array(
  fc.record({ kind: fc.constantFrom("failed" as const, "succeeded" as const), gapMs: fc.nat(200_000) }),
  { maxLength: 60 },
);
const policies = fc.record({
  afterFailures: fc.integer({ min: 1, max: 5 }),
  onRecovery: fc.boolean(),
  remindEverySeconds: fc.option(fc.integer({ min: 1, max: 300 }), { nil: null }),
});

function play(policy: AlertPolicy, gaps: readonly { readonly kind: AlertEvent["kind"]; readonly gapMs: number }[]) {
  let state: AlertState = quiet;
  let at = 0;
  return gaps.map(({ kind, gapMs }) => {
    at += gapMs;
    const turn = alertStep(state, policy, { kind, at });
    state = turn.state;
    return { kind, at, tell: turn.tell as AlertTell };
  });
}

test("the default policy tells of each failure and of nothing else", () => {
  fc.assert(
    fc.property(events, (gaps) => {
      for (const { kind, tell } of play(off, gaps)) expect(tell).toBe(kind === "failed" ? "failure" : "no");
    }),
  );
});

test("whatever the policy: first told a failure, reminders apart, one recovery for failures that were told", () => {
  fc.assert(
    fc.property(policies, events, (policy, gaps) => {
      let inARow = 0;
      let toldAt: number | null = null;
      for (const { kind, at, tell } of play(policy, gaps)) {
        if (kind === "succeeded") {
          expect(tell).toBe(policy.onRecovery && toldAt !== null ? "recovery" : "no");
          inARow = 0;
          toldAt = null;
          continue;
        }
        inARow++;
        if (inARow < policy.afterFailures) expect(tell).toBe("no");
        else if (toldAt === null) expect(tell).toBe("failure");
        else if (policy.remindEverySeconds === null) expect(tell).toBe("failure");
        else expect(tell).toBe(at - toldAt >= policy.remindEverySeconds * 1_000 ? "reminder" : "no");
        if (tell !== "no") toldAt = at;
      }
    }),
  );
});

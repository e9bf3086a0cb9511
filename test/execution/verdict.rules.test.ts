import { describe, expect, test } from "vitest";
import type { LimitsRecord, Verification } from "../../src/contract/run.ts";
import { failReason, type VerdictFacts } from "../../src/execution/verdict.rules.ts";

const silent = { text: "", discardedLines: 0 };
const spoke = { text: "hello\n", discardedLines: 0 };
const discarded = { text: "", discardedLines: 3 };

const lenient = { producesStdout: false, producesStderr: false, nonzeroReturn: false, always: false };
const good: VerdictFacts = {
  exitCode: 0,
  stdout: silent,
  stderr: silent,
  failsWhen: lenient,
  verification: null,
  limits: null,
  limitsRefused: null,
};

const verification = (outcome: Verification["outcome"], reason: string | null): Verification => ({
  outcome,
  reason,
  exitCode: 1,
  startedAt: 0,
  finishedAt: 0,
  stdout: "",
  stderr: "",
  outputTruncated: false,
});

const outOfMemory = (memoryBytes: number): LimitsRecord => ({
  requested: { memoryBytes },
  enforced: ["memory"],
  notEnforced: [],
  memoryExceeded: true,
  memoryPeakBytes: memoryBytes,
  cpuThrottledSeconds: null,
  processesPeak: null,
});

/** Every cause of failure, in the order in which they count, each with facts that make it and its text. */
const causes: readonly { readonly facts: Partial<VerdictFacts>; readonly text: string }[] = [
  {
    facts: { verification: verification("failed", "check exited with code 1") },
    text: "verification failed: check exited with code 1",
  },
  { facts: { limitsRefused: "no cgroup" }, text: "resource limits could not be enforced: no cgroup" },
  { facts: { limits: outOfMemory(512 * 2 ** 20) }, text: "memory limit exceeded (512 MiB)" },
  {
    facts: { failsWhen: { ...lenient, always: true } },
    text: "configured to mark every run as failed (failsWhen.always)",
  },
  { facts: { exitCode: 3, failsWhen: { ...lenient, nonzeroReturn: true } }, text: "command exited with code 3" },
  {
    facts: { stdout: spoke, failsWhen: { ...lenient, producesStdout: true } },
    text: "command wrote to stdout (configured to count as a failure)",
  },
  {
    facts: { stderr: spoke, failsWhen: { ...lenient, producesStderr: true } },
    text: "command wrote to stderr (configured to count as a failure)",
  },
];

/** Facts in which all these causes hold. */
function together(chosen: typeof causes): VerdictFacts {
  const failsWhen = chosen.reduce((all, { facts }) => {
    const one = facts.failsWhen ?? lenient;
    return {
      producesStdout: all.producesStdout || one.producesStdout,
      producesStderr: all.producesStderr || one.producesStderr,
      nonzeroReturn: all.nonzeroReturn || one.nonzeroReturn,
      always: all.always || one.always,
    };
  }, lenient);
  return Object.assign({}, good, ...chosen.map(({ facts }) => facts), { failsWhen });
}

describe("the first cause that holds is the reason, whichever hold besides (F-1, F-6)", () => {
  for (let chosen = 1; chosen < 2 ** causes.length; chosen++) {
    const holding = causes.filter((_, index) => chosen & (1 << index));
    const [first] = holding;
    test(`${holding.map(({ text }) => text.slice(0, 24)).join(" + ")}`, () => {
      expect(failReason(together(holding))).toBe(first?.text);
    });
  }
});

test("no cause, no reason", () => {
  expect(failReason(good)).toBeNull();
});

describe("output", () => {
  const strict = { ...lenient, producesStdout: true, producesStderr: true };
  test("discarded lines count as output (F-4)", () => {
    expect(failReason({ ...good, failsWhen: strict, stdout: discarded })).toContain("stdout");
    expect(failReason({ ...good, failsWhen: strict, stderr: discarded })).toContain("stderr");
  });
  test("a stream that is not captured never fails a run (F-5)", () => {
    expect(failReason({ ...good, failsWhen: strict, stdout: null, stderr: null })).toBeNull();
  });
  test("silence is no output", () => {
    expect(failReason({ ...good, failsWhen: strict })).toBeNull();
  });
  test("output that is not configured to fail a run does not (F-2)", () => {
    expect(failReason({ ...good, stdout: spoke, stderr: spoke })).toBeNull();
  });
});

test.each([-100, -9, 1, 127, 255])("exit code %i fails only where nonzeroReturn says so (F-11)", (exitCode) => {
  expect(failReason({ ...good, exitCode })).toBeNull();
  expect(failReason({ ...good, exitCode, failsWhen: { ...lenient, nonzeroReturn: true } })).toBe(
    `command exited with code ${exitCode}`,
  );
});

describe("verification", () => {
  test.each([
    ["failed", "check exited with code 2"],
    ["timeout", "check timed out after 60 seconds"],
    ["error", "check could not be launched: ENOENT"],
  ] as const)("%s fails the run", (outcome, reason) => {
    expect(failReason({ ...good, verification: verification(outcome, reason) })).toBe(`verification failed: ${reason}`);
  });
  test.each(["passed", "cancelled"] as const)("%s does not", (outcome) => {
    expect(failReason({ ...good, verification: verification(outcome, null) })).toBeNull();
  });
});

test.each([
  [2 ** 20, "1 MiB"],
  [1.5 * 2 ** 20, "1.5 MiB"],
  [2 ** 30, "1024 MiB"],
])("a cap of %i bytes is told as %s", (bytes, told) => {
  expect(failReason({ ...good, limits: outOfMemory(bytes) })).toBe(`memory limit exceeded (${told})`);
});

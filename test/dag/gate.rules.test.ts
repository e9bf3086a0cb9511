import { describe, expect, test } from "vitest";
import { decideGate, markGatesTold } from "../../src/dag/gate.rules.ts";
import { dagOf, FOREIGN, runOnPaper, START, succeeds } from "./run-on-paper.ts";

function parked(onReject: "fail" | "skip" = "fail") {
  const run = runOnPaper([
    { id: "g", type: "approval", onReject },
    { id: "after", dependsOn: ["g"] },
  ]);
  return { run, pass: run.pass() };
}

test("D-APR-1: a gate waits, claims nothing and holds up what is behind it", () => {
  const { run, pass } = parked();
  expect(pass.claims).toEqual([]);
  expect(run.task("g")).toMatchObject({
    state: "running",
    awaitingApproval: true,
    approval: null,
    startedAt: START,
    host: null,
    proc: null,
  });
  expect(run.task("after").state).toBe("pending");
});

test.each([
  ["fail", "approve", "success", "approved", "running"],
  ["fail", "reject", "failed", "rejected", "upstream_failed"],
  ["skip", "reject", "skipped", "rejected", "skipped"],
] as const)(
  "D-APR-2, D-APR-3, D-STM-2: onReject %s, %s: %s, recorded as %s",
  (onReject, decision, state, recorded, after) => {
    const { run } = parked(onReject);
    const outcome = decideGate(run.document, run.dag, "g", decision, "alice", START + 9);
    if (outcome.kind !== "decided") throw new Error(outcome.kind);
    expect(outcome.state).toBe(state);
    run.document = outcome.document;
    expect(run.task("g")).toMatchObject({
      state,
      approval: { decision: recorded, by: "alice", at: START + 9 },
      finishedAt: START + 9,
    });
    expect(run.task("g")).not.toHaveProperty("awaitingApproval");
    const pass = run.pass();
    expect(run.task("after").state).toBe(after);
    if (after === "running") run.end("after", succeeds);
    const end = after === "running" ? run.pass().over : pass.over;
    expect(end?.state).toBe(state === "failed" ? "failed" : "success");
  },
);

describe("D-APR-7: what is no gate that waits is refused, and nothing changes", () => {
  const { run } = parked();
  const decide = (key: string, document = run.document) =>
    decideGate(document, run.dag, key, "reject", "b", START).kind;
  test("decided already: of two decisions one wins", () => {
    const first = decideGate(run.document, run.dag, "g", "approve", "a", START);
    expect(first.kind).toBe("decided");
    if (first.kind === "decided") expect(decide("g", first.document)).toBe("not awaiting");
  });
  test("an ordinary task", () => expect(decide("after")).toBe("not awaiting"));
  test("an unknown one", () => expect(decide("nope")).toBe("unknown task"));
  test("a run that is over", () => expect(decide("g", { ...run.document, state: "failed" })).toBe("not awaiting"));
  test("a task that a reload took away", () =>
    expect(decideGate(run.document, dagOf([{ id: "after" }]), "g", "approve", "a", START).kind).toBe("unknown task"));
});

test("D-APR-5: a gate is told of once, marked before; a restart does not tell again", () => {
  const { run, pass } = parked();
  expect(pass.gatesToTell).toEqual(["g"]);
  const marked = markGatesTold(run.document, pass.gatesToTell, START);
  expect(marked.toTell).toEqual(["g"]);
  expect(markGatesTold(marked.document, pass.gatesToTell, START)).toEqual({ document: marked.document, toTell: [] });
  run.document = marked.document;
  run.restart(FOREIGN);
  expect(run.pass().gatesToTell).toEqual([]);
});

test("D-APR-5: what has been decided meanwhile is not told of", () => {
  const { run, pass } = parked();
  const outcome = decideGate(run.document, run.dag, "g", "approve", "a", START);
  if (outcome.kind !== "decided") throw new Error(outcome.kind);
  expect(markGatesTold(outcome.document, pass.gatesToTell, START).toTell).toEqual([]);
});

test("D-APR-8: it survives adoption and any length of time", () => {
  const { run } = parked();
  const before = run.task("g");
  run.restart(FOREIGN);
  run.now += 400 * 86_400;
  run.pass();
  expect(run.task("g")).toEqual(before);
});

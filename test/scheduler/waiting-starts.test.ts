import { expect, test } from "vitest";
import { step } from "../../src/scheduler/job.rules.ts";
import { freshJob, type JobEffect, type JobEvent, type JobState } from "../../src/scheduler/job-state.ts";
import { jobConfig } from "../support/job-config.ts";

const around = { now: 0, owner: { kind: "here" }, retryMoves: false, survivor: null } as const;

/** State and effects after these events, one after the other. */
function after(events: readonly JobEvent[]): { readonly state: JobState; readonly effects: readonly JobEffect[] } {
  let state = freshJob(jobConfig({ name: "slow", concurrencyPolicy: "Replace" }));
  const effects: JobEffect[] = [];
  for (const event of events) {
    const turn = step(state, event, around);
    state = turn.state;
    effects.push(...turn.effects);
  }
  return { state, effects };
}

const answers = (effects: readonly JobEffect[]) =>
  effects.flatMap((effect) => (effect.kind === "answer start" ? [effect.answer.kind] : []));

const busy: readonly JobEvent[] = [
  { kind: "due", slot: 1, runId: "first" },
  { kind: "catch up", request: 7, slot: 0, runId: "caught-up" },
];

test("a caught-up start that waits to replace a run is answered when it starts", () => {
  expect(answers(after(busy).effects)).toEqual([]);
  const result = {
    ...{ startedAt: 0, endedAt: 0, finishedAt: 0, exitCode: -15, launchError: null, stopped: "replaced" as const },
    ...{
      stdout: null,
      stderr: null,
      environment: null,
      failReason: null,
      verification: null,
      resources: null,
      limits: null,
    },
  };
  const { effects } = after([...busy, { kind: "finished", runId: "first", result }]);
  expect(effects.flatMap((effect) => (effect.kind === "launch" ? [effect.start.runId] : []))).toEqual([
    "first",
    "caught-up",
  ]);
  expect(answers(effects)).toEqual(["started"]);
});

test("one that a scheduled start supersedes is refused, so that catch-up asks again", () => {
  expect(answers(after([...busy, { kind: "due", slot: 2, runId: "third" }]).effects)).toEqual(["refused"]);
});

test("a start that waits for another node to make way is refused with a reason when the next one overtakes it", () => {
  const job = jobConfig({ name: "slow", concurrencyPolicy: "Replace", concurrencyScope: "cluster" });
  let state = freshJob(job);
  const refused: unknown[] = [];
  const events: readonly JobEvent[] = [
    { kind: "due", slot: 1, runId: "first" },
    { kind: "slot answered", runId: "first", slot: { kind: "taken", holder: "nodeb#1" } },
    { kind: "due", slot: 2, runId: "second" },
  ];
  for (const event of events) {
    const turn = step(state, event, around);
    state = turn.state;
    for (const effect of turn.effects) if (effect.kind === "refuse") refused.push([effect.slot, effect.reason.kind]);
  }
  expect(refused).toEqual([[1, "superseded"]]);
});

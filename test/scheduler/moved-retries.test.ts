import { describe, expect, test } from "vitest";
import type { JobConfig } from "../../src/config/model.ts";
import { step } from "../../src/scheduler/job.rules.ts";
import type { Around, JobEffect, JobEvent, JobState } from "../../src/scheduler/job-state.ts";
import { freshJob } from "../../src/scheduler/job-state.ts";
import { jobConfig } from "../support/job-config.ts";

const here: Around = { now: 60_000, owner: { kind: "here" }, retryMoves: false, survivor: null };
const retry = { maximumRetries: 5, initialDelaySeconds: 0.5, maximumDelaySeconds: 9, backoffMultiplier: 1 };

interface After {
  readonly state: JobState;
  readonly effects: readonly JobEffect[];
}

/** One event after the other, each in its surroundings. */
function walked(job: Partial<JobConfig>, ...events: readonly (readonly [JobEvent, Partial<Around>])[]): After {
  let state = freshJob(jobConfig({ name: "flaky", retry, ...job }));
  let effects: readonly JobEffect[] = [];
  for (const [event, around] of events) ({ state, effects } = step(state, event, { ...here, ...around }));
  return { state, effects };
}

const resumed: readonly [JobEvent, Partial<Around>] = [
  { kind: "retry resumed", retry: { attempt: 2, dueAt: 60_000, armedAt: 59_000 } },
  {},
];
const due: JobEvent = { kind: "retry due", ladderId: 1, runId: "r1" };

const kinds = ({ effects }: After): string[] => effects.map(({ kind }) => kind);
const lines = ({ effects }: After): string[] =>
  effects.flatMap((effect) => (effect.kind === "log" ? [`${effect.level} ${effect.message}`] : []));

describe("F-30: a due retry while no leader is elected", () => {
  const unclear = { owner: { kind: "unclear" } } as const;

  test("keeps its sequence and is looked at again, at the earliest in a second; the first time it is said", () => {
    const first = walked({}, resumed, [due, unclear]);
    expect(first.state.ladder).toMatchObject({ count: 2, wait: { dueAt: 61_000, deferred: true } });
    expect(kinds(first)).toEqual(["log", "arm retry"]);
    expect(lines(first)).toEqual(["info Job flaky retry #2 waits: no leader is elected"]);
    const second = walked({}, resumed, [due, unclear], [due, { ...unclear, now: 61_000 }]);
    expect(lines(second)).toEqual(["debug Job flaky retry #2 waits: no leader is elected"]);
  });
});

describe("a due retry of a job that another node owns now", () => {
  const elsewhere = { owner: { kind: "elsewhere", owner: "nodeb" } } as const;

  test("F-43: is handed off without a row where retries move", () => {
    const moved = walked({}, resumed, [due, { ...elsewhere, retryMoves: true }]);
    expect(moved.state.ladder).toBe(null);
    expect(kinds(moved)).toEqual(["log", "hand off retry"]);
    expect(lines(moved)[0]).toContain(
      "handed off: the cluster moved ownership of it to another node; the new owner resumes the ladder from its durable record (cross-node retry resume)",
    );
  });

  test("RSM-2: and is settled with a cancelled row where they do not", () => {
    const ended = walked({}, resumed, [due, elsewhere]);
    expect(ended.state.ladder).toBe(null);
    expect(kinds(ended)).toEqual(["log", "settle retry", "record row"]);
  });
});

describe("F-27: a fire that the cluster slot drops", () => {
  const scoped = { concurrencyScope: "cluster", concurrencyPolicy: "Forbid" } as const;
  const fire: readonly [JobEvent, Partial<Around>] = [{ kind: "due", slot: 60_000, runId: "r1" }, {}];
  const dropped: readonly [JobEvent, Partial<Around>] = [
    { kind: "slot answered", runId: "r1", slot: { kind: "taken", holder: "nodeb#1" } },
    {},
  ];

  test("leaves the sequence it made with no launch, which the next fire replaces", () => {
    const left = walked(scoped, fire, dropped);
    expect(kinds(left)).not.toContain("launch");
    expect(left.state.runs.size).toBe(0);
    expect(left.state.ladder).toMatchObject({ count: 0, wait: null });
    const next = walked(scoped, fire, dropped, [{ kind: "due", slot: 120_000, runId: "r2" }, {}]);
    expect(next.state.ladder?.id).toBe((left.state.ladder?.id ?? 0) + 1);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type BackfillEffect,
  type BackfillEvent,
  freshBackfill,
  type Standing,
  stepBackfill,
} from "../../../src/journal/catchup/backfill.rules.ts";
import type { CatchUpFacts, CatchUpWindow } from "../../../src/journal/catchup/owed.rules.ts";
import { parseSchedule } from "../../../src/schedule/expression.ts";
import { utcZone } from "../../../src/schedule/zone.ts";

const minute = 60_000;
const policies = (["run-once", "run-all"] as const).flatMap((onMissed) =>
  (["Allow", "Forbid"] as const).map((concurrencyPolicy) => ({
    onMissed,
    schedule: parseSchedule("* * * * *"),
    zone: utcZone,
    startingDeadlineSeconds: null,
    offsetMs: 500,
    concurrencyPolicy,
  })),
);

const standing: fc.Arbitrary<Standing> = fc.record({
  policy: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...policies) }, { weight: 1, arbitrary: fc.constant(null) }),
  owner: fc.oneof(
    { weight: 8, arbitrary: fc.constant("here" as const) },
    { weight: 1, arbitrary: fc.constantFrom("elsewhere" as const, "unclear" as const) },
  ),
  paused: fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
const instants = fc.integer({ min: 0, max: 10 }).map((n) => n * minute + 1);
const facts: fc.Arbitrary<CatchUpFacts | null> = fc.option(
  fc.record({
    lastRunAt: fc.option(instants),
    lastCompletedAt: fc.option(instants),
    open: fc.oneof(instants, fc.constantFrom("none" as const, null)),
    pause: fc.constant(null),
  }),
);
const window: fc.Arbitrary<CatchUpWindow> = fc.oneof(
  instants.map((now) => ({ kind: "start", now }) as const),
  fc
    .tuple(instants, instants)
    .map(([after, length]) => ({ kind: "resume", after, before: after + length, observed: after + length }) as const),
);

/** What may happen at each step: an answer to what was asked, or something from outside. */
const moves = fc.array(
  fc.record({
    standing,
    facts,
    landed: fc.boolean(),
    started: fc.boolean(),
    outside: fc.option(fc.oneof(window, instants), { freq: 5 }),
  }),
  { maxLength: 80 },
);

/** Effects that are answered, each by exactly one event. */
const isQuestion = ({ kind }: BackfillEffect): boolean => kind !== "log";

test("whatever happens, one question is out while a window is undecided, and none when all are decided (B1, B2)", () => {
  fc.assert(
    fc.property(moves, (steps) => {
      let state = freshBackfill("backup");
      let open: BackfillEffect[] = [];
      let checkpoint: "open" | "closed" = "closed";
      const take = (event: BackfillEvent, now: Standing): void => {
        const before = state;
        const turn = stepBackfill(state, event, now);
        state = turn.state;
        for (const effect of turn.effects) {
          if (effect.kind !== "launch") continue;
          // B3, B4: only from idle, with a checkpoint on disk, while the job catches up, here, and is not paused.
          expect(before.phase.kind).toBe("awaiting idle");
          expect(checkpoint).toBe("open");
          expect(now.policy !== null && now.owner === "here" && !now.paused).toBe(true);
        }
        open = [...open, ...turn.effects.filter(isQuestion)];
      };

      for (const move of steps) {
        if (move.outside !== null || open.length === 0) {
          const outside = move.outside ?? { kind: "start" as const, now: 5 * minute };
          take(
            typeof outside === "number" ? { kind: "started", at: outside } : { kind: "window", window: outside },
            move.standing,
          );
        } else {
          const [question, ...rest] = open;
          open = rest;
          if (question?.kind === "write" && move.landed)
            checkpoint = question.checkpoint === "open" ? "open" : "closed";
          if (question?.kind === "read facts" && move.facts !== null)
            checkpoint = move.facts.open === "none" ? "closed" : "open";
          const answers: Record<string, BackfillEvent> = {
            "read facts": { kind: "facts", facts: move.facts },
            write: { kind: "written", landed: move.landed },
            wake: { kind: "woken" },
            "await idle": { kind: "idle" },
            launch: { kind: "launched", started: move.started },
          };
          const answer = answers[question?.kind ?? ""];
          if (answer !== undefined) take(answer, move.standing);
        }
        expect(open.length).toBe(state.windows.length === 0 ? 0 : 1);
        expect(state.phase.kind === "resting").toBe(state.windows.length === 0);
      }
    }),
    { numRuns: 400 },
  );
});

test("an answer that nobody waits for changes nothing", () => {
  const state = freshBackfill("backup");
  const now: Standing = { policy: null, owner: "here", paused: false };
  for (const event of [
    { kind: "facts", facts: null },
    { kind: "written", landed: true },
    { kind: "woken" },
    { kind: "idle" },
    { kind: "launched", started: true },
  ] as const)
    expect(stepBackfill(state, event, now)).toEqual({ state, effects: [] });
});

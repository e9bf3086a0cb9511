import { expect, test } from "vitest";
import { type ControlClient, ControlError } from "../../../src/client/control/control-client.ts";
import { followed } from "../../../src/commands/dag/follow.ts";
import { settled, simulatedClock } from "../../../src/platform/simulated-clock.ts";

const silence = new ControlError("unreachable", "nobody there");

/** A daemon that answers so, one after the other, the last for ever; and what a follower makes of it. */
function following(...answers: readonly (string | ControlError)[]) {
  const clock = simulatedClock(0);
  const told: string[] = [];
  let asked = 0;
  const client: ControlClient = {
    async get(_, shape) {
      const answer = answers[Math.min(asked++, answers.length - 1)] ?? silence;
      if (typeof answer !== "string") throw answer;
      const common = {
        dag: "d",
        runKey: "k",
        runId: "r",
        kind: "manual",
        logicalDate: null,
        createdAt: 0,
        updatedAt: 0,
      };
      const run = { ...common, mapped: {}, tasks: { a: { state: answer } }, state: answer };
      return { text: answer, value: shape.parse(run) as never };
    },
    post: () => Promise.reject(new Error("nothing is changed by looking")),
  };
  let outcome = "goes on";
  const end = followed(client, "/run", clock, (line) => told.push(line)).then(
    ({ run }) => {
      outcome = `ended: ${run.state}`;
    },
    (error: Error) => {
      outcome = `gave up: ${error.message}`;
    },
  );
  return { clock, told, end, outcome: () => outcome };
}

test("a daemon that is started anew meanwhile is waited for, and its silence told of once", async () => {
  const { clock, told, end, outcome } = following("running", silence, silence, "running", "success");
  await settled();
  await clock.runUntilSettled(10_000);
  await end;
  expect(outcome()).toBe("ended: success");
  expect(told).toEqual(["a: running", "nobody there; still following", "a: success"]);
});

test("two minutes of silence are the end of it; a refusal is at once", async () => {
  const silent = following("running", silence);
  await settled();
  await silent.clock.runUntilSettled(115_000);
  expect(silent.outcome()).toBe("goes on");
  await silent.clock.runUntilSettled(122_000);
  expect(silent.outcome()).toBe("gave up: nobody there");
  const refused = following(new ControlError("refused", "no such run"));
  await refused.end;
  expect(refused.outcome()).toBe("gave up: no such run");
});

import { expect, test } from "vitest";
import { createAdoption } from "../../src/dag/adoption.ts";
import type { Claim } from "../../src/dag/claim.rules.ts";
import { createHandOuts } from "../../src/dag/hand-outs.ts";
import { createRunIndex } from "../../src/dag/run-index.ts";
import { createRunStore } from "../../src/dag/run-store.ts";
import { startFleet } from "./support/fleet.ts";

const yaml = `
dags:
  - name: d
    tasks:
      - {id: a, command: a}
`;

test("the record of hand-outs forgets a run that another node has finished or deleted, and no other (D-CLM-7)", async () => {
  const fleet = startFleet({ at: "2026-07-04T10:00:00Z", yaml, commands: { a: () => ({ seconds: 60 }) } });
  const node = fleet.start("b");
  await fleet.until(1);
  for (const _ of [1, 2]) await node.control.trigger("d", null);
  await fleet.until(2);
  const [over = "", going = ""] = fleet.keys("d");
  const claim: Claim = { taskKey: "a", taskId: "a", attempt: 0, poke: null, mapIndex: null, mapItem: null };
  const handOuts = createHandOuts();
  const runs = createRunStore(
    () => node.store,
    () => undefined,
  );
  const held = (runKey: string) => handOuts.keys({ dag: "d", runKey }, fleet.run("d", runKey).runId).size;
  for (const runKey of [over, going, "deleted"])
    handOuts.add({ dag: "d", runKey }, runKey === "deleted" ? "gone" : fleet.run("d", runKey).runId, claim);
  await runs.change({ dag: "d", runKey: over }, (stored) =>
    stored.kind === "run"
      ? { kind: "put", run: { ...stored.run, state: "success" }, answer: null }
      : { kind: "keep", answer: null },
  );

  const adoption = createAdoption({
    runs,
    index: createRunIndex(runs, fleet.clock),
    ownership: { owns: () => false, take: async () => false } as never,
    advancer: { advance: () => undefined } as never,
    handOuts,
    clock: fleet.clock,
    isStopped: () => false,
  });
  await adoption.scan(["d"]);
  expect([held(over), held(going)]).toEqual([0, 1]);
  expect(handOuts.keys({ dag: "d", runKey: "deleted" }, "gone").size).toBe(0);
});

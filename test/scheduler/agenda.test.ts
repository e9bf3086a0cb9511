import fc from "fast-check";
import { expect, test } from "vitest";
import { createAgenda } from "../../src/scheduler/agenda.ts";

type Action =
  | { readonly do: "set"; readonly name: string; readonly dueAt: number }
  | { readonly do: "delete"; readonly name: string }
  | { readonly do: "take"; readonly now: number };

const name = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("set" as const), name, dueAt: fc.nat(20) }) },
  fc.record({ do: fc.constant("delete" as const), name }),
  fc.record({ do: fc.constant("take" as const), now: fc.nat(20) }),
);

test("an agenda behaves like a sorted map, whatever is done to it", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const agenda = createAgenda();
      const twin = new Map<string, number>();
      for (const act of actions) {
        if (act.do === "set") {
          agenda.set(act.name, act.dueAt);
          twin.set(act.name, act.dueAt);
        } else if (act.do === "delete") {
          agenda.delete(act.name);
          twin.delete(act.name);
        } else {
          const taken = agenda.takeDue(act.now);
          const due = [...twin].filter(([, dueAt]) => dueAt <= act.now);
          for (const [name] of due) twin.delete(name);
          expect(taken.map(({ dueAt }) => dueAt)).toEqual(due.map(([, dueAt]) => dueAt).sort((a, b) => a - b));
          expect(taken.map(({ name }) => name).sort()).toEqual(due.map(([name]) => name).sort());
        }
        expect(agenda.soonest()).toBe(twin.size === 0 ? null : Math.min(...twin.values()));
        expect(agenda.size).toBe(twin.size);
        for (const [name, dueAt] of twin) expect(agenda.get(name)).toBe(dueAt);
      }
    }),
  );
});

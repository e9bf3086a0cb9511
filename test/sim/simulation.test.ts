import { describe, test } from "vitest";
import { setupOf, simulate, usualSpan } from "./simulate.ts";

/** Seeds that have found something once, and what. */
const regressions: readonly (readonly [seed: number, what: string])[] = [
  [1004, "a caught-up start that another start supersedes"],
  [15, "the backlog, while the ledger cannot be read and the job runs"],
  [404, "runs that were cut, while the store cannot be read at the next start"],
  [406, "a start that waits for another node and is overtaken"],
  [513, "two runs that started in one instant"],
];

const fresh = [11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22];

/** `SIM_SEED` replays one world, as a failure says. */
const asked = process.env.SIM_SEED;

describe("simulated daemons keep their promises while things go wrong, and make up for everything when they are whole", () => {
  const worlds: readonly (readonly [number, string])[] = [
    ...regressions,
    ...fresh.map((seed) => [seed, "drawn"] as const),
  ];
  test.each(asked === undefined ? worlds : [[Number(asked), "asked for"] as const])(
    "world %i (%s)",
    async (seed) => {
      await simulate(setupOf(seed), usualSpan);
    },
    300_000,
  );
});

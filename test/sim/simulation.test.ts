import { describe, test } from "vitest";
import { setupOf, simulate } from "./simulate.ts";

/** Seeds of CI; with `SIM_SEED` that one alone. */
const asked = process.env.SIM_SEED;
const seeds = asked === undefined ? [1, 2, 3, 4, 5, 6] : [Number(asked)];

describe("simulated daemons keep their promises", () => {
  test.each(seeds)(
    "seed %i",
    async (seed) => {
      await simulate(setupOf(seed), { wrongHours: 6, wholeHours: 3 });
    },
    120_000,
  );
});

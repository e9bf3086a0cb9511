import { describe, test } from "vitest";
import { simulateDags } from "./dags/simulate-dags.ts";

/** `DAG_SIM_SEED` replays one world, as a failure says. */
const asked = process.env.DAG_SIM_SEED;
const seeds = asked === undefined ? Array.from({ length: 20 }, (_, index) => index + 1) : [Number(asked)];

describe("simulated engines run no task twice while things go wrong, and end every run when they are whole (D-CLM-1, D-CRS-1, D-CRS-3)", () => {
  test.each(seeds)(
    "world %i",
    async (seed) => {
      await simulateDags(seed);
    },
    120_000,
  );
});

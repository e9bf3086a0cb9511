import { describe, test } from "vitest";
import { setupOf, simulate, usualSpan } from "./simulate.ts";
import type { Setup } from "./world/world.ts";

/** Seeds that are known to notice something in worlds of jobs alone, and what. */
const regressions: readonly (readonly [seed: number, what: string])[] = [
  [11, "a Forbid start beside a run that outlived its daemon"],
  [20, "the same, with other jobs"],
  [15, "a run that was cut, whose row could not be written"],
];

/** Those that found what has been mended since, in the worlds of that time, and some more. */
const fresh = [2, 404, 406, 513, 1004, 12, 13, 14, 16, 17, 18, 21];

/** Worlds with DAGs: one that found passes without end in a daemon that stops, and some more. */
const withDags = [2033, 2001, 2024, 3001, 3002, 3003, 3004, 3005, 3006, 3007, 3008, 3009];

function worldOf(seed: number): Setup {
  const drawn = setupOf(seed);
  if (regressions.some(([known]) => known === seed)) return { ...drawn, dags: 0, pools: 0 };
  return withDags.includes(seed) ? { ...drawn, dags: Math.max(1, drawn.dags) } : drawn;
}

/** `SIM_SEED` replays one world, as a failure says. */
const asked = process.env.SIM_SEED;

describe("simulated daemons keep their promises while things go wrong, and make up for everything when they are whole", () => {
  const worlds: readonly (readonly [number, string])[] = [
    ...regressions,
    ...[...fresh, ...withDags].map((seed) => [seed, "drawn"] as const),
  ];
  test.each(asked === undefined ? worlds : [[Number(asked), "asked for"] as const])(
    "world %i (%s)",
    async (seed) => {
      await simulate(worldOf(seed), usualSpan);
    },
    300_000,
  );
});

import { describe, test } from "vitest";
import { setupOf, simulate, usualSpan } from "./simulate.ts";
import type { Setup } from "./world/world.ts";

/** Seeds that are known to notice something in worlds of jobs alone, and what. */
const regressions: readonly (readonly [seed: number, what: string])[] = [
  [11, "a Forbid start beside a run that outlived its daemon"],
  [20, "the same, with other jobs"],
  [15, "a run that was cut, whose row could not be written"],
  [3043, "a run that ended while its daemon stopped"],
  [3104, "a handoff that came too late for every node"],
  [1049, "a retry that was consumed while another run of its sequence failed"],
  [1012, "a row that hid missed slots, and a cycle whose close was lost"],
];

/** Those that found what has been mended since, in the worlds of that time, and some more. */
const fresh = [2, 404, 406, 513, 1004, 12, 13, 14, 16, 17, 18, 21];

/** Worlds with DAGs: one that found passes without end in a daemon that stops, and some more. */
const withDags = [2033, 2001, 2024, 3001, 3005, 3008];

/** Worlds whose store is files, as a real daemon has them. */
const onFiles = [3043, 5, 7];

type On = Setup["store"];

function worldOf(seed: number, on: On): Setup {
  const drawn = setupOf(seed, on);
  if (regressions.some(([known]) => known === seed)) return { ...drawn, dags: 0, pools: 0 };
  return withDags.includes(seed) ? { ...drawn, dags: Math.max(1, drawn.dags) } : drawn;
}

/** `SIM_SEED` replays one world, with `SIM_STORE=files` on files, as a failure says. */
const { SIM_SEED: asked, SIM_STORE: store } = process.env;

describe("simulated daemons keep their promises while things go wrong, and make up for everything when they are whole", () => {
  const worlds: readonly (readonly [number, string, On])[] = [
    ...regressions.map(([seed, what]) => [seed, what, "memory"] as const),
    ...[...fresh, ...withDags].map((seed) => [seed, "drawn", "memory"] as const),
    ...onFiles.map((seed) => [seed, "drawn", "files"] as const),
  ];
  const one = [Number(asked), "asked for", store === "files" ? "files" : "memory"] as const;
  test.each(asked === undefined ? worlds : [one])(
    "world %i (%s, the store in %s)",
    async (seed, _, on) => {
      await simulate(worldOf(seed, on), usualSpan);
    },
    300_000,
  );
});

import { parseArgs } from "node:util";
import { BrokenDagPromise, simulateDags } from "./dags/simulate-dags.ts";
import { BrokenPromise, setupOf, simulate, usualSpan } from "./simulate.ts";

/**
 * `npm run test:sim -- --minutes N [--of daemons|dags] [--seed S] [--keep-going]`: one world after the other, and what they went
 * through.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    of: { type: "string", default: "daemons" },
    seed: { type: "string", default: "1000" },
    "keep-going": { type: "boolean", default: false },
  },
});

interface World {
  readonly figures: object;
  readonly simulatedMs: number;
}

const live = (seed: number): Promise<World> =>
  values.of === "dags" ? simulateDags(seed) : simulate(setupOf(seed, storeOf(seed)), usualSpan);

/** Every tenth world is on files. */
const storeOf = (seed: number): "memory" | "files" => (seed % 10 === 0 ? "files" : "memory");

const until = performance.now() + Number(values.minutes) * 60_000;
const figures = new Map<string, number>();
let simulatedMs = 0;
let worlds = 0;
const failed: number[] = [];

for (let seed = Number(values.seed); performance.now() < until; seed++) {
  try {
    const done = await live(seed);
    simulatedMs += done.simulatedMs;
    for (const [name, count] of Object.entries(done.figures)) figures.set(name, (figures.get(name) ?? 0) + count);
    worlds++;
  } catch (error) {
    if (!(error instanceof BrokenPromise || error instanceof BrokenDagPromise)) throw error;
    failed.push(seed);
    console.error(values["keep-going"] ? `seed ${seed}: ${error.message.split("\n", 1)[0]}` : error.message);
    if (!values["keep-going"]) break;
  }
}

console.log(`worlds                ${worlds}`);
console.log(`simulated days        ${(simulatedMs / 86_400_000).toFixed(1)}`);
for (const [name, count] of figures) console.log(`${name.padEnd(20)}  ${count}`);
if (failed.length > 0) {
  console.error(`broken promises: ${failed.length} (seeds ${failed.join(", ")})`);
  process.exitCode = 1;
}

import { parseArgs } from "node:util";
import { BrokenPromise, setupOf, simulate, usualSpan } from "./simulate.ts";
import { type Figures, newFigures } from "./world/transcript.ts";

/** `npm run test:sim -- --minutes N [--seed S] [--keep-going]`: one world after the other, and what they went through. */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: "1000" },
    "keep-going": { type: "boolean", default: false },
  },
});
const until = performance.now() + Number(values.minutes) * 60_000;
const figures: Figures = newFigures();
let simulatedMs = 0;
let worlds = 0;
const failed: number[] = [];

for (let seed = Number(values.seed); performance.now() < until; seed++) {
  try {
    const done = await simulate(setupOf(seed), usualSpan);
    simulatedMs += done.simulatedMs;
    for (const key of Object.keys(figures) as (keyof Figures)[]) figures[key] += done.figures[key];
    worlds++;
  } catch (error) {
    if (!(error instanceof BrokenPromise)) throw error;
    failed.push(seed);
    console.error(values["keep-going"] ? `seed ${seed}: ${error.message.split("\n", 1)[0]}` : error.message);
    if (!values["keep-going"]) break;
  }
}

console.log(`worlds                ${worlds}`);
console.log(`simulated days        ${(simulatedMs / 86_400_000).toFixed(1)}`);
for (const [name, count] of Object.entries(figures)) console.log(`${name.padEnd(20)}  ${count}`);
if (failed.length > 0) {
  console.error(`broken promises: ${failed.length} (seeds ${failed.join(", ")})`);
  process.exitCode = 1;
}

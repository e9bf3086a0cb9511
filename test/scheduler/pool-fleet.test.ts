import { expect, test } from "vitest";
import type { Operation } from "../../src/store/engine.ts";
import type { Conduct } from "../../src/store/front/in-thread.ts";
import { journalBench } from "../journal/support/journal-bench.ts";
import { drawnFrom } from "../support/drawn.ts";
import { type PoolNode, poolNode, stored, warehouse, work } from "./support/pool-node.ts";

const SECOND = 1000;
const SLOTS = 3;

/**
 * Three nodes on one store that fails, hangs, lands without a word and is slow, each for less than a claim lasts; one node is killed
 * on the way. Work comes at random, and a run takes its time.
 */
async function simulated(seed: number) {
  const draw = drawnFrom(seed);
  const on = journalBench();
  const nodes: PoolNode[] = ["host-a", "host-b", "host-c"].map((host) =>
    poolNode({ on, host, pool: warehouse(SLOTS) }),
  );
  const alive = new Set(nodes);
  const sick = new Set<PoolNode>();
  const live = new Map<string, { node: PoolNode; slots: number }>();
  const starts = new Map<string, number>();
  const unfinished = new Set<string>(); // runs that a kill cut short
  const answered = new Map<string, string>();
  const slotsOf = new Map<string, number>();
  const transcript: string[] = [];
  const seen = new Map<PoolNode, number>(nodes.map((node) => [node, 0]));
  let mostUsed = 0;

  const conduct = (): ((operation: Operation) => Conduct) => {
    const kind = draw();
    return (operation) => {
      if (operation !== "swapDocument" && operation !== "readDocument") return { kind: "answer" };
      if (kind < 0.25) return { kind: "fail", message: "the disk is full" };
      if (kind < 0.5) return { kind: "silent", lands: operation === "swapDocument" };
      if (kind < 0.75) return { kind: "silent", lands: false };
      return { kind: "slow", delayMs: 200 + draw() * 3_000 };
    };
  };

  /** Starts and ends of runs as the nodes were told since the last look. */
  const follow = (node: PoolNode): void => {
    for (const line of node.told.slice(seen.get(node))) {
      transcript.push(`${(on.clock.elapsedNow() / SECOND).toFixed(1)} ${nodes.indexOf(node)} ${line}`);
      const [what, id = ""] = line.split(" ");
      if (what === "admitted") {
        const run = { node, slots: slotsOf.get(id) ?? 1 };
        live.set(id, run);
        starts.set(id, (starts.get(id) ?? 0) + 1);
        on.clock.after(1 + draw() * 20 * SECOND, () => {
          if (live.get(id) !== run) return;
          live.delete(id);
          node.queues.completed("warehouse", id);
        });
      } else if (what === "lost") live.delete(id);
    }
    seen.set(node, node.told.length);
    mostUsed = Math.max(
      mostUsed,
      [...live.values()].reduce((sum, { slots }) => sum + slots, 0),
    );
  };

  const pass = async (milliseconds: number): Promise<void> => {
    for (let left = milliseconds; left > 0; left -= 500) {
      await on.pass(500);
      for (const node of nodes) follow(node);
    }
  };

  for (let round = 0; round < 45; round++) {
    const [node] = [...alive].sort(() => draw() - 0.5);
    if (node !== undefined && draw() < 0.8) {
      const id = `job-${round}`;
      const slots = 1 + Math.floor(draw() * SLOTS);
      slotsOf.set(id, slots);
      const wish = work(id, { slots, source: "manual", priority: Math.floor(draw() * 3) });
      void node.queues.enqueue("warehouse", wish).then(({ kind }) => answered.set(id, kind));
    }
    if (draw() < 0.15 && sick.size === 0 && node !== undefined) {
      sick.add(node);
      node.bench.behave(conduct());
      on.clock.after(2 * SECOND + draw() * 6 * SECOND, () => {
        node.bench.behave(null);
        sick.clear();
      });
    }
    if (round === 30) {
      const [victim] = alive;
      if (victim !== undefined) {
        victim.kill();
        alive.delete(victim);
        for (const [id, run] of [...live]) {
          if (run.node !== victim) continue;
          live.delete(id);
          unfinished.add(id);
        }
      }
    }
    await pass(Math.floor(draw() * 4) * SECOND + 500);
  }
  for (const node of nodes) node.bench.behave(null);
  await pass(240 * SECOND);
  return { nodes, alive: [...alive], answered, starts, unfinished, mostUsed, transcript: transcript.join("\n") };
}

test.each([1, 2, 3, 4, 5])("fleet %i keeps its promises", async (seed) => {
  const { alive, answered, starts, unfinished, mostUsed, transcript } = await simulated(seed);
  const queued = [...answered].flatMap(([id, kind]) => (kind === "queued" ? [id] : []));
  expect(queued.length).toBeGreaterThan(15);
  // Safety: never more than its slots, and nothing twice but what was killed while it ran, or may have been.
  expect(mostUsed, transcript).toBe(SLOTS);
  const twice = [...starts].flatMap(([id, times]) => (times > 1 && !unfinished.has(id) ? [id] : []));
  expect(twice, transcript).toEqual([]);
  // Liveness: once all is whole, everything that got in has run, and nothing is left behind.
  expect(
    queued.filter((id) => !starts.has(id)),
    transcript,
  ).toEqual([]);
  const [node] = alive;
  if (node === undefined) throw new Error("no node is left");
  expect(stored(node).entries, transcript).toEqual([]);
});

import { expect, test } from "vitest";
import { createClusterSlots } from "../../../src/cluster/slots/slots.ts";
import { createLockTrust } from "../../../src/journal/lock-trust.ts";
import { journalBench } from "../../journal/support/journal-bench.ts";
import { drawnFrom } from "../../support/drawn.ts";

const SECOND = 1000;

/** Nodes that claim, run and release one job at random, on a store whose troubles are shorter than a lease. */
async function simulated(seed: number) {
  const draw = drawnFrom(seed);
  const shared = journalBench();
  const holders = new Set<string>();
  const transcript: string[] = [];
  let together = 0;
  let runs = 0;
  let sick = false;

  const nodes = ["a", "b", "c"].map((host) => {
    const bench = journalBench({ clock: shared.clock, medium: shared.medium });
    const { backend, clock, log } = bench;
    const note = (what: string): void => {
      transcript.push(`${(clock.elapsedNow() / SECOND).toFixed(1)} ${host} ${what}`);
    };
    const end = (): void => {
      if (!holders.delete(host)) return;
      note("ends");
      slots.release("job");
    };
    const slots = createClusterSlots({
      self: { host, proc: host.repeat(12) },
      backend,
      locks: createLockTrust({ backend, log }),
      ttlSeconds: () => 30,
      clock,
      log,
      onYield: end,
    });
    let busy = false;
    return {
      bench,
      slots,
      async attempt(): Promise<void> {
        if (busy || holders.has(host)) return;
        busy = true;
        const answer = await slots.claim("job");
        note(answer.kind);
        if (answer.kind === "held") {
          holders.add(host);
          runs++;
          together = Math.max(together, holders.size);
          clock.after(draw() * 40 * SECOND, end);
        } else if (answer.kind === "taken" && draw() < 0.3) note(await slots.pursue("job"));
        busy = false;
      },
    };
  });

  for (let round = 0; round < 200; round++) {
    const node = nodes[Math.floor(draw() * nodes.length)];
    void node?.attempt();
    if (!sick && node !== undefined && draw() < 0.2) {
      sick = true;
      const kind = draw();
      node.bench.behave(() => {
        if (kind < 0.3) return { kind: "fail", message: "the disk is full" };
        if (kind < 0.6) return { kind: "silent", lands: draw() < 0.5 };
        return { kind: "slow", delayMs: draw() * 2 * SECOND };
      });
      shared.clock.after(1 + draw() * 6 * SECOND, () => {
        node.bench.behave(null);
        sick = false;
      });
    }
    await shared.pass(draw() * 8 * SECOND);
  }
  for (const { bench } of nodes) bench.behave(null);
  await shared.pass(180 * SECOND);
  const last = await Promise.all(nodes.map(({ slots }) => slots.claim("job")));
  return { together, runs, last: last.filter(({ kind }) => kind === "held").length, transcript: transcript.join("\n") };
}

test.each([1, 2, 3, 4, 5, 6])("fleet %i never runs a job on two nodes, and never stops running it", async (seed) => {
  const { together, runs, last, transcript } = await simulated(seed);
  expect(together, transcript).toBe(1);
  expect(runs).toBeGreaterThan(20);
  expect(last, transcript).toBe(1);
});

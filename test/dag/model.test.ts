import fc from "fast-check";
import { expect, test } from "vitest";
import { type Claim, claimKey } from "../../src/dag/claim.rules.ts";
import { type ClaimEnd, complete } from "../../src/dag/completion.rules.ts";
import { expanded } from "../../src/dag/expansion.rules.ts";
import type { FanOutList } from "../../src/dag/fan-out-list.rules.ts";
import { decideGate } from "../../src/dag/gate.rules.ts";
import { processKey } from "../../src/dag/pass.ts";
import { stampPids } from "../../src/dag/pid-stamp.rules.ts";
import { plan } from "../../src/dag/plan.ts";
import { freshRun, isTerminal, type RunDocument } from "../../src/dag/run-document.ts";
import { effectiveState } from "../../src/dag/trigger.rules.ts";
import { type Fate, foretold, type ModelTask } from "./model.ts";
import { dagOf, exits, HOST, IDENTITY, items, START, throughTheStore, type WrittenTask } from "./run-on-paper.ts";

const exitCodes = (longest: number) => fc.array(fc.constantFrom(0, 0, 1), { maxLength: longest });

const looseFate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("plain" as const), exits: exitCodes(3), retries: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("sensor" as const), meets: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("gate" as const),
      approve: fc.boolean(),
      onReject: fc.constantFrom("fail" as const, "skip" as const),
    }),
  },
);

const manyInstances = fc.record({
  exits: fc.array(exitCodes(2), { maxLength: 40 }),
  retries: fc.nat(1),
  over: fc.nat(9),
});

/** A graph whose tasks depend on earlier ones of the list, and a fate for each. */
const graphs = fc
  .array(
    fc.record({
      upstream: fc.array(fc.nat(), { maxLength: 3 }),
      rule: fc.constantFrom("all_success" as const, "all_success" as const, "all_done" as const),
      fate: looseFate,
      mapping: fc.option(manyInstances, { freq: 4 }),
    }),
    { minLength: 1, maxLength: 50 },
  )
  .map((drawn) => {
    const tasks: ModelTask[] = [];
    for (const [index, { upstream, rule, fate, mapping }] of drawn.entries()) {
      const dependsOn = index === 0 ? [] : [...new Set(upstream.map((drawnAt) => `t${drawnAt % index}`))];
      const from = dependsOn.find((id) => tasks.find((task) => task.id === id)?.fate.kind !== "mapped");
      if (mapping === null || from === undefined) {
        tasks.push({ id: `t${index}`, dependsOn, rule, fate });
        continue;
      }
      const count = mapping.over === 0 ? 1001 : mapping.exits.length;
      // Of no items, or of too many, the moment the list is read decides when others upstream have failed: there are none then.
      const others = count === 0 || count > 1000 ? [from] : dependsOn;
      const { exits: list, retries } = mapping;
      tasks.push({
        id: `t${index}`,
        dependsOn: others,
        rule,
        fate: { kind: "mapped", from, count, exits: list, retries },
      });
    }
    return tasks;
  });

/** As the configuration would say it. */
function written({ id, dependsOn, rule, fate }: ModelTask): WrittenTask {
  const common = { id, dependsOn, triggerRule: rule };
  switch (fate.kind) {
    case "plain":
      return { ...common, retries: fate.retries, retryDelaySeconds: 3 };
    case "sensor":
      return { ...common, type: "sensor", pokeIntervalSeconds: 5, pokeTimeoutSeconds: fate.meets ? 1e9 : 20 };
    case "gate":
      return { ...common, type: "approval", onReject: fate.onReject };
    case "mapped":
      return { ...common, retries: fate.retries, expand: { fromTask: fate.from, key: "k" } };
  }
}

function draws(seed: number) {
  let state = seed;
  /** From 0 up to, not including, 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    chance: (share: number) => next() < share,
    pick: <T>(list: readonly T[]): T | undefined => list[Math.floor(next() * list.length)],
    shuffled: <T>(list: readonly T[]) =>
      list
        .map((item) => ({ item, at: next() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item),
  };
}

/** Drives a run to its end through crashes, writes that land unseen and lists that cannot be read, and checks it on the way. */
function drive(tasks: readonly ModelTask[], seed: number, crashesMax: number) {
  const world = draws(seed);
  const fates = new Map(tasks.map(({ id, fate }) => [id, fate]));
  const dag = dagOf(world.shuffled(tasks).map(written));
  let document = freshRun(dag, IDENTITY, START);
  let now = START;
  let proc = 0;
  let pid = 100;
  let handedOut = new Map<string, Claim>();
  let alive = new Map<string, boolean>();
  let crashes = 0;
  const crashed = new Set<string>();
  const successes = new Map<string, number>();

  const token = () => `proc${proc}`;
  const write = (next: RunDocument): void => {
    for (const [key, { state }] of document.tasks)
      if (isTerminal(state)) expect(next.tasks.get(key)?.state, key).toBe(state); // D-STM-1
    document = throughTheStore(next);
  };
  const endOf = ({ taskId, mapIndex, attempt, poke }: Claim): ClaimEnd => {
    const fate = fates.get(taskId);
    if (fate?.kind === "sensor") return exits(fate.meets && (poke ?? 0) >= 2 ? 0 : 1);
    const list = fate?.kind === "plain" ? fate.exits : fate?.kind === "mapped" ? fate.exits[mapIndex ?? 0] : undefined;
    return exits(list?.[attempt] ?? 1);
  };
  const finish = (claim: Claim): void => {
    const end = endOf(claim);
    const { document: next, became } = complete(document, dag, [{ claim, proc: token(), at: now, end, jitter: 0 }]);
    expect(became[0], "the end of a claim that was handed out counts").not.toBeNull();
    if (became[0] === "success") successes.set(claim.taskKey, (successes.get(claim.taskKey) ?? 0) + 1);
    write(next);
    handedOut.delete(claimKey(claim));
  };
  const crash = (): void => {
    crashes++;
    for (const [key, record] of document.tasks) {
      if (record.state !== "running" || record.proc === null || record.pokeCount !== undefined) continue;
      crashed.add(`${key}/${record.attempt}`);
    }
    proc++;
    handedOut = new Map();
    alive = new Map();
  };

  for (let step = 0; step < 20_000; step++) {
    const facts = {
      proc: token(),
      host: HOST,
      handedOut: new Set(handedOut.keys()),
      alive,
      admitted: new Set<string>(),
      claimsLeft: 32,
    };
    const lists = new Map<string, FanOutList>();
    const pass = plan(document, dag, facts, now);
    for (const { taskKey } of pass.claims) expect(document.tasks.get(taskKey)?.state).not.toBe("success");
    const lost = world.chance(0.05);
    write(pass.document);
    if (pass.over !== null) return { document, crashed, successes, steps: step };
    if (!lost) {
      // Released and made again: the engine has to be told of each claim once.
      for (const claim of pass.claims) handedOut.set(claimKey(claim), claim);
      const stamps = pass.claims
        .filter(() => world.chance(0.7))
        .map((claim) => ({ claim, pid: ++pid, pidStart: "boot" }));
      write(stampPids(document, token(), stamps, now));
      // A second pass over the result of one changes nothing (P1, P2).
      const told = { ...facts, handedOut: new Set(handedOut.keys()) };
      if (!pass.deferred) expect(plan(document, dag, told, now).document).toBe(document);
    }
    for (const { taskId } of pass.awaitedLists) {
      const fate = fates.get(taskId);
      if (fate?.kind !== "mapped" || world.chance(0.3)) continue; // the store did not answer
      lists.set(taskId, fate.count > 1000 ? { kind: "too many", count: fate.count } : items(...fate.exits.keys()));
    }
    write(expanded(document, dag, lists, now));
    for (const process of pass.unknownProcesses) alive.set(processKey(process), world.chance(0.3));
    for (const key of pass.gatesToTell) {
      const fate = fates.get(key);
      if (fate?.kind !== "gate" || world.chance(0.5)) continue;
      const decided = decideGate(document, dag, key, fate.approve ? "approve" : "reject", "x", now);
      if (decided.kind === "decided") write(decided.document);
    }
    for (const key of alive.keys()) if (world.chance(0.5)) alive.set(key, false); // processes of dead daemons end some day
    if (crashes < crashesMax && world.chance(0.1)) crash();
    else for (const claim of handedOut.values()) if (world.chance(0.6)) finish(claim);
    now = Math.max(now, pass.nextWakeAt ?? now) + (world.chance(0.5) ? 0.5 : 0);
  }
  throw new Error("the run never ends");
}

function check(tasks: readonly ModelTask[], seed: number, crashesMax: number): void {
  const { document, crashed, successes } = drive(tasks, seed, crashesMax);
  const { groups, instances, verdict } = foretold(tasks, crashed);
  for (const [id, state] of groups) expect(effectiveState(document, id), id).toBe(state);
  for (const [key, state] of instances) {
    // What never runs is materialised or not, depending on whether its list was there before the rule had its say.
    const found = document.tasks.get(key)?.state;
    if (found !== undefined || state === "success" || state === "failed") expect(found, key).toBe(state);
  }
  expect(document.state).toBe(verdict);
  for (const [key, count] of successes) expect(count, `successes of ${key}`).toBe(1);
}

test("acceptance 43: every run ends as foretold, whatever the order of its tasks in the file", () => {
  fc.assert(
    fc.property(graphs, fc.integer(), (tasks, seed) => check(tasks, seed, 0)),
    { numRuns: 40, seed: 43 },
  );
});

test("acceptance 43: also through crashes, and no instance succeeds twice", () => {
  fc.assert(
    fc.property(graphs, fc.integer(), (tasks, seed) => check(tasks, seed, 4)),
    { numRuns: 60, seed: 44 },
  );
});

import { describe, expect, test } from "vitest";
import { engineOn, looser, operations, settledStore, text, view } from "../support/probed-operations.ts";
import { type Loss, type VolatileDisk, volatileDisk } from "../support/volatile-disk.ts";

const losses: readonly Loss[] = ["all that was not flushed", "nothing", { mixed: 1 }, { mixed: 2 }, { mixed: 3 }];

describe.each(Object.keys(operations))("%s, with the power cut at each of its system calls", (name) => {
  const operate = operations[name] ?? (() => undefined);

  /** Runs it until the power goes. @returns whether it came to its end */
  const until = (disk: VolatileDisk, call: number): boolean => {
    const engine = engineOn(disk);
    disk.cutAt(call);
    try {
      operate(engine);
    } catch (error) {
      if (!disk.isDead) throw error;
    }
    return !disk.isDead;
  };

  const before = view(settledStore().afterPowerCut("nothing"));
  const whole = settledStore();
  until(whole, Number.POSITIVE_INFINITY);
  const after = view(whole.afterPowerCut("nothing"));

  test("leaves what was before or what is after, whatever of the unflushed is lost", () => {
    for (let call = 0, ended = false; !ended; call++) {
      const disk = settledStore();
      ended = until(disk, call);
      for (const loss of losses) {
        const found = view(disk.afterPowerCut(loss));
        expect(found.quarantined, `call ${call}`).toBe(0);
        // A cut name is told by a file in its directory, which has to be there first.
        if (ended || !name.includes("cut name")) expect(found.complete, `call ${call}`).toBe(true);
        // Unlinks need no flush: what was pruned may come back, and what is to be pruned may still be there.
        const allowed = name.includes("prune") || name.includes("publication") ? looser(found, before, after) : found;
        if (ended) expect(allowed, `call ${call}, ${JSON.stringify(loss)}`).toEqual(after);
        else expect([without(before), without(after)], `call ${call}`).toContainEqual(without(allowed));
      }
    }
  });
});

/** A blob's or a new stream's empty directory is nobody's business. */
function without(found: ReturnType<typeof view>) {
  const records = Object.fromEntries(Object.entries(found.records).filter(([, numbers]) => numbers.length > 0));
  return { ...found, records, complete: true };
}

test("a start with the power cut at each of its system calls can be made again", () => {
  for (let call = 0, ended = false; !ended; call++) {
    const disk = volatileDisk();
    disk.cutAt(call);
    try {
      engineOn(disk).start({ topology: "auto" });
    } catch (error) {
      if (!disk.isDead) throw error;
    }
    ended = !disk.isDead;
    for (const loss of losses) {
      const found = disk.afterPowerCut(loss);
      engineOn(found).start({ topology: "auto" });
      engineOn(found).start({ topology: "auto" });
      const stamps = [...found.files().keys()].filter((path) => path.includes("/records/meta/"));
      expect(stamps, `call ${call}`).toHaveLength(1);
    }
  }
});

test("files are flushed before they are renamed, and their directory after (F61, ATW-1 to ATW-4)", () => {
  const disk = settledStore();
  const engine = engineOn(disk);
  const traced = (work: () => unknown): string[] => {
    disk.trace.length = 0;
    work();
    return disk.trace.map((line) => line.replaceAll("/store/default/", "").replace(/w-[0-9a-f]+-\d+/g, "w"));
  };
  const record = traced(() => engine.append({ stream: "runs/new", text: text(1), keep: null }));
  const file = record.find((line) => line.startsWith("rename"))?.replace(/^.* → /, "");
  expect(record).toEqual([
    "mkdir records/runs%2Fnew",
    "flush directory records",
    "list records/runs%2Fnew",
    "create tmp/w.tmp",
    "write tmp/w.tmp",
    "flush tmp/w.tmp",
    `rename tmp/w.tmp → ${file}`,
    "flush directory records/runs%2Fnew",
  ]);
  const written = ["create tmp/w.tmp", "write tmp/w.tmp", "flush tmp/w.tmp"];
  const taken = traced(() => engine.acquireLease({ name: "slots/a", holder: "h", ttlSeconds: 9 }));
  expect(taken.slice(-5)).toEqual([...written, "rename tmp/w.tmp → leases/slots%2Fa.lease", "flush directory leases"]);
  const extended = traced(() => engine.acquireLease({ name: "slots/a", holder: "h", ttlSeconds: 9 }));
  expect(extended.slice(-4)).toEqual([...written, "rename tmp/w.tmp → leases/slots%2Fa.lease"]);
});

import { describe, expect, test } from "vitest";
import type { Engine } from "../../../src/store/engine.ts";
import { filesystemEngine } from "../../../src/store/filesystem/engine.ts";
import { type Loss, type VolatileDisk, volatileDisk } from "../support/volatile-disk.ts";

const text = (n: number): string => `{"data":{"n":${n},"name":"k"},"schemaVersion":"v1"}`;
const losses: readonly Loss[] = ["all that was not flushed", "nothing", { mixed: 1 }, { mixed: 2 }, { mixed: 3 }];

let engines = 0;

function engineOn(disk: VolatileDisk, atMicros = 2_000_000_000_000): Engine {
  let now = atMicros;
  const writer = (++engines).toString(16).padStart(12, "0");
  return filesystemEngine(
    { path: "/store", deploymentId: null, writer },
    disk,
    { wallMicros: () => ++now },
    () => undefined,
  );
}

/** A store with something of everything, all of it on the platter. */
function settledStore(): VolatileDisk {
  const disk = volatileDisk();
  const engine = engineOn(disk, 1_000_000_000_000);
  engine.start({ topology: "auto" });
  for (const n of [1, 2, 3]) {
    engine.append({ stream: "runs/old", text: text(n), keep: null });
    engine.publish({ stream: "artifacts/old", field: "name", key: "k", text: text(n) });
  }
  engine.swapDocument({ namespace: "kv/old", key: "k", version: null, text: text(1) });
  engine.putBlob({ bytes: Buffer.from("old") });
  engine.acquireLease({ name: "slots/old", holder: "before", ttlSeconds: 1 });
  disk.settle();
  return disk;
}

/** What the store holds, as a reader sees it. */
function view(disk: VolatileDisk) {
  const engine = engineOn(disk);
  const numbers = (stream: string): number[] =>
    engine
      .listRecords({ stream, newestFirst: false, limit: 100, reading: "strict" })
      .map((row) => JSON.parse(row.text).data.n);
  const { names, complete } = engine.streamNames({ prefix: "" });
  const documentAt = (namespace: string) => engine.readDocument({ namespace, key: "k" }).text;
  return {
    complete,
    records: Object.fromEntries(names.map((name) => [name, numbers(name)])),
    documents: { old: documentAt("kv/old"), new: documentAt("kv/new") },
    leases: ["slots/old", "slots/new"].map((name) => {
      const acquired = engine.acquireLease({ name, holder: "after", ttlSeconds: 1 });
      return acquired.kind === "held" ? acquired.lease.fence : acquired.kind;
    }),
    blobs: [...disk.files().keys()].filter((path) => path.includes("/blobs/")).length,
    quarantined: [...disk.files().keys()].filter((path) => path.includes("/quarantine/")).length,
  };
}

const long = "x".repeat(300);
const operations: Readonly<Record<string, (engine: Engine) => unknown>> = {
  "an append to a new stream": (engine) => engine.append({ stream: "runs/new", text: text(9), keep: null }),
  "an append to a known stream": (engine) => engine.append({ stream: "runs/old", text: text(9), keep: null }),
  "an append to a stream with a cut name": (engine) =>
    engine.append({ stream: `runs/${long}`, text: text(9), keep: null }),
  "an append with its prune": (engine) => engine.append({ stream: "runs/old", text: text(9), keep: 2 }),
  "a publication": (engine) => engine.publish({ stream: "artifacts/old", field: "name", key: "k", text: text(9) }),
  "a new document": (engine) => engine.swapDocument({ namespace: "kv/new", key: "k", version: null, text: text(9) }),
  "a changed document": (engine) => {
    const { version } = engine.readDocument({ namespace: "kv/old", key: "k" });
    return engine.swapDocument({ namespace: "kv/old", key: "k", version, text: text(9) });
  },
  "a deleted document": (engine) => {
    const { version } = engine.readDocument({ namespace: "kv/old", key: "k" });
    return engine.swapDocument({ namespace: "kv/old", key: "k", version, text: null });
  },
  "a new blob": (engine) => engine.putBlob({ bytes: Buffer.from("new") }),
  "a known blob": (engine) => engine.putBlob({ bytes: Buffer.from("old") }),
  "a new lease": (engine) => engine.acquireLease({ name: "slots/new", holder: "now", ttlSeconds: 0 }),
  "a taken-over lease": (engine) => engine.acquireLease({ name: "slots/old", holder: "now", ttlSeconds: 0 }),
};

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

/** With the records that may or may not be pruned yet taken as the one or the other, newest kept. */
function looser(found: ReturnType<typeof view>, before: ReturnType<typeof view>, after: ReturnType<typeof view>) {
  const records = { ...found.records };
  for (const [stream, numbers] of Object.entries(found.records)) {
    const isAfter =
      numbers.at(-1) === after.records[stream]?.at(-1) && numbers.at(-1) !== before.records[stream]?.at(-1);
    const settled = (isAfter ? after : before).records[stream] ?? [];
    const ofEither = new Set([...(before.records[stream] ?? []), ...(after.records[stream] ?? [])]);
    if (settled.every((n) => numbers.includes(n)) && numbers.every((n) => ofEither.has(n))) records[stream] = settled;
  }
  return { ...found, records };
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

test("files are flushed before they are renamed, and their directory after (F61, ATW-1, ATW-2)", () => {
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

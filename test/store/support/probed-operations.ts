import type { Engine } from "../../../src/store/engine.ts";
import type { Disk } from "../../../src/store/filesystem/disk.ts";
import { filesystemEngine } from "../../../src/store/filesystem/engine.ts";
import { type VolatileDisk, volatileDisk } from "./volatile-disk.ts";

/** A record. */
export const text = (n: number): string => `{"data":{"n":${n},"name":"k"},"schemaVersion":"v1"}`;
let engines = 0;

/** An engine of its own on the disk, its clock going on with each look. */
export function engineOn(disk: Disk, micros = { now: 2_000_000_000_000 }): Engine {
  const writer = (++engines).toString(16).padStart(12, "0");
  return filesystemEngine(
    { path: "/store", deploymentId: null, writer },
    disk,
    { wallMicros: () => ++micros.now },
    () => undefined,
  );
}

/** An empty store. */
export function freshDisk(): VolatileDisk {
  const disk = volatileDisk();
  engineOn(disk).start({ topology: "auto" });
  return disk;
}

/** A store with something of everything, all of it on the platter. */
export function settledStore(): VolatileDisk {
  const disk = volatileDisk();
  const engine = engineOn(disk, { now: 1_000_000_000_000 });
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
export function view(disk: VolatileDisk) {
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
/** Something of everything that writes. */
export const operations: Readonly<Record<string, (engine: Engine) => unknown>> = {
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

/** With the records that may or may not be pruned yet taken as the one or the other, newest kept. */
export function looser(
  found: ReturnType<typeof view>,
  before: ReturnType<typeof view>,
  after: ReturnType<typeof view>,
) {
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

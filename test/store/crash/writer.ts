import { createHash } from "node:crypto";
import { wallMicros } from "../../../src/platform/wall-micros.ts";
import { type Engine, LockBusy } from "../../../src/store/engine.ts";
import { filesystemEngine } from "../../../src/store/filesystem/engine.ts";
import { systemDisk } from "../../../src/store/filesystem/system-disk.ts";

/** What a writer reports after an operation has returned: from then on it must be there. */
export type Acknowledgement =
  | { readonly did: "append"; readonly stream: string; readonly id: string; readonly text: string }
  | {
      readonly did: "publish";
      readonly stream: string;
      readonly key: string;
      readonly id: string;
      readonly text: string;
    }
  | { readonly did: "count"; readonly key: string }
  | { readonly did: "blob"; readonly sha256: string }
  | { readonly did: "hold"; readonly name: string; readonly holder: string; readonly fence: number };

export const COUNTERS = ["a", "B"];
export const LEASES = ["slots/one", "lock/x/two#0"];
export const KEPT = 5;

/** Whole numbers below a bound, the same ones for the same seed. */
export function seededNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Does random operations on the store, `times` of them or, being killed, fewer. */
export function writeMuch(
  path: string,
  round: number,
  seed: number,
  times: number,
  acknowledge: (line: Acknowledgement) => void,
): void {
  const random = seededNumbers(seed);
  const writer = createHash("sha256").update(`${seed}`).digest("hex").slice(0, 12);
  const engine = filesystemEngine({ path, deploymentId: null, writer }, systemDisk, { wallMicros }, () => undefined);
  const operations = [appendAny, appendPruned, publish, count, storeBlob, hold];
  for (let n = 0; n < times; n++) {
    const operation = operations[random(operations.length)] ?? appendAny;
    try {
      operation(engine, { round, writer, n, random }, acknowledge);
    } catch (error) {
      // A brother has the lock, and may be dead before it gives it back; the next operation is another one.
      if (!(error instanceof LockBusy)) throw error;
    }
  }
}

interface Turn {
  readonly round: number;
  readonly writer: string;
  readonly n: number;
  readonly random: (below: number) => number;
}

type Operation = (engine: Engine, turn: Turn, acknowledge: (line: Acknowledgement) => void) => void;

function envelope(data: object): string {
  return JSON.stringify({ data, schemaVersion: "v1" });
}

const appendAny: Operation = (engine, { round, writer, n, random }, acknowledge) => {
  const stream = `runs/round ${round}`;
  const text = envelope({ n, padding: "x".repeat(random(3) * 4000), writer });
  acknowledge({ did: "append", stream, text, ...engine.append({ stream, text, keep: null }) });
};

const appendPruned: Operation = (engine, { writer, n }, acknowledge) => {
  const stream = "runs/pruned";
  const text = envelope({ n, writer });
  acknowledge({ did: "append", stream, text, ...engine.append({ stream, text, keep: KEPT }) });
};

const publish: Operation = (engine, { round, writer, n, random }, acknowledge) => {
  const stream = `artifacts/round ${round}`;
  const key = `key ${random(2)}`;
  const text = envelope({ n, name: key, writer });
  acknowledge({ did: "publish", stream, key, text, ...engine.publish({ stream, field: "name", key, text }) });
};

const count: Operation = (engine, { random }, acknowledge) => {
  const key = COUNTERS[random(COUNTERS.length)] ?? "a";
  const place = { namespace: "kv/counters", key };
  let current = engine.readDocument(place);
  for (;;) {
    const n = current.text === null ? 0 : JSON.parse(current.text).data.n;
    const swap = engine.swapDocument({ ...place, version: current.version, text: envelope({ n: n + 1 }) });
    if (swap.swapped) break;
    current = swap.current;
  }
  acknowledge({ did: "count", key });
};

const storeBlob: Operation = (engine, { writer, n, random }, acknowledge) => {
  const bytes = Buffer.from(`${writer} ${n % 7} `.repeat(1 + random(2000)));
  acknowledge({ did: "blob", sha256: engine.putBlob({ bytes }) });
};

const hold: Operation = (engine, { writer, random }, acknowledge) => {
  const name = LEASES[random(LEASES.length)] ?? "slots/one";
  const acquired = engine.acquireLease({ name, holder: writer, ttlSeconds: random(3) / 1000 });
  if (acquired.kind !== "held") return;
  acknowledge({ did: "hold", name, holder: writer, fence: acquired.lease.fence });
  if (random(2) === 0) engine.renewLease({ lease: acquired.lease, ttlSeconds: 0.002 });
  if (random(2) === 0) engine.releaseLease({ lease: acquired.lease });
};

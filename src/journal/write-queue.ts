import type { Clock } from "../platform/clock.ts";
import type { Outcome } from "../store/store.ts";
import { type Drops, failureText, type WriteKind } from "./drops.ts";
import { PENDING_WRITES_MAX } from "./limits.ts";

/** What became of a queued write; "shed": there were too many already, and it was never tried. */
export type Written = Outcome<unknown> | { readonly kind: "shed" };

/**
 * Durable writes that nobody has to wait for (WRT-1). Writes of one chain begin one after the other, whatever became of the one
 * before; chains go side by side (WRT-4). A lost write is counted and said once. Nothing here rejects or throws.
 */
export interface WriteQueue {
  /**
   * @param chain usually the stream; an inverted pair (pending and settled, open and closed) would be read back wrongly
   * @param what the job or host, for the warning
   * @returns resolves when the write has been answered; most callers do not look
   */
  add(chain: string, kind: WriteKind, what: string, write: () => Promise<Outcome<unknown>>): Promise<Written>;
  /** Resolves when the chain's writes of this moment have been answered. */
  settled(chain: string): Promise<void>;
  /** Whether the chain has a write waiting or under way. */
  busy(chain: string): boolean;
  readonly pending: number;
  /** Waits for all pending writes, at most this long. Answers how many were left. */
  flush(patienceMs: number): Promise<number>;
}

export function createWriteQueue(clock: Clock, drops: Drops): WriteQueue {
  /** The last write of each chain that has one. */
  const tails = new Map<string, Promise<Written>>();
  let pending = 0;
  const waiting = new Set<() => void>();

  /** A body that breaks its own shape is our bug, and costs its own write only. */
  const attempt = async (write: () => Promise<Outcome<unknown>>): Promise<Outcome<unknown>> => {
    try {
      return await write();
    } catch (error) {
      return {
        kind: "failed",
        failure: { reason: "io", message: error instanceof Error ? error.message : String(error) },
      };
    }
  };

  return {
    add(chain, kind, what, write) {
      if (pending >= PENDING_WRITES_MAX) {
        drops.lost("overflow", what, `${pending} durable writes are waiting already`);
        return Promise.resolve({ kind: "shed" });
      }
      pending++;
      const before = tails.get(chain);
      const written = (before === undefined ? attempt(write) : before.then(() => attempt(write))).then((outcome) => {
        pending--;
        if (tails.get(chain) === written) tails.delete(chain);
        if (outcome.kind !== "done") drops.lost(isShed(outcome) ? "overflow" : kind, what, failureText(outcome));
        if (pending === 0) for (const tell of waiting) tell();
        return outcome;
      });
      tails.set(chain, written);
      return written;
    },
    async settled(chain) {
      await tails.get(chain);
    },
    busy: (chain) => tails.has(chain),
    get pending() {
      return pending;
    },
    async flush(patienceMs) {
      if (pending === 0) return 0;
      await new Promise<void>((resolve) => {
        const end = (): void => {
          cancel();
          waiting.delete(end);
          resolve();
        };
        const cancel = clock.after(patienceMs, end);
        waiting.add(end);
      });
      return pending;
    },
  };
}

function isShed(outcome: Exclude<Outcome<unknown>, { kind: "done" }>): boolean {
  return outcome.kind === "failed" && outcome.failure.reason === "overflow";
}

import type { PoolConfig } from "../config/model.ts";
import type { PoolDocument } from "../contract/pool.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { PoolTrouble } from "./pool-store.ts";
import type { Step } from "./pools.rules.ts";

/** A change of a pool's document, as the steps in pools.rules.ts are. */
export type PoolStep<A> = (document: PoolDocument, pool: PoolConfig, now: EpochMs) => Step<A>;

/** One of the changes that go in a read-modify-write together, and who hears what became of it. */
export interface PoolItem {
  readonly apply: PoolStep<() => void>;
  missed(trouble: PoolTrouble): void;
}

const nothing = (): void => undefined;

export function poolItem<A>(
  step: PoolStep<A>,
  landed: (answer: A) => void = nothing,
  missed: (trouble: PoolTrouble) => void = nothing,
): PoolItem {
  return {
    apply(before, pool, now) {
      const { document, answer } = step(before, pool, now);
      return { document, answer: () => landed(answer) };
    },
    missed,
  };
}

/** All of them in order. The answer tells each what came of it. */
export function applyItems(
  items: readonly PoolItem[],
  before: PoolDocument,
  pool: PoolConfig,
  now: EpochMs,
): Step<() => void> {
  const landings: (() => void)[] = [];
  let document = before;
  for (const item of items) {
    const step = item.apply(document, pool, now);
    document = step.document;
    landings.push(step.answer);
  }
  return {
    document,
    answer() {
      for (const land of landings) land();
    },
  };
}

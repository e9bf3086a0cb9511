import type { Clock } from "../platform/clock.ts";
import { POOL_OPERATION_DEADLINE_MS } from "./limits.ts";
import { type PoolItem, type PoolStep, poolItem } from "./pool-items.ts";
import type { PoolTrouble } from "./pool-store.ts";

/** What somebody who asked for a change of a pool is told. */
export type Asked<A> = { readonly kind: "done"; readonly answer: A } | PoolTrouble;

export interface AskedFor<A> {
  landed?(answer: A): void;
  /** The asker was told of trouble, and it landed with this answer or, null, may have. */
  late?(answer: A | null): void;
}

/**
 * A change that is answered within 5 s, whether it has been tried by then or not.
 *
 * @param giveUp the time is over: if it has not been tried yet, it is not to be
 */
export function poolAsk<A>(
  clock: Clock,
  step: PoolStep<A>,
  hears: AskedFor<A>,
  giveUp: (item: PoolItem) => void,
): { readonly item: PoolItem; readonly answer: Promise<Asked<A>> } {
  let open = true;
  let resolve: (asked: Asked<A>) => void = () => undefined;
  const answer = new Promise<Asked<A>>((settle) => {
    resolve = settle;
  });
  const give = (asked: Asked<A>): void => {
    open = false;
    cancelPatience();
    resolve(asked);
  };
  const item = poolItem(
    step,
    (landed) => {
      if (!open) return hears.late?.(landed);
      hears.landed?.(landed);
      give({ kind: "done", answer: landed });
    },
    (trouble) => {
      if (trouble.kind === "unavailable" && trouble.mayHaveLanded) hears.late?.(null);
      if (open) give(trouble);
    },
  );
  const cancelPatience = clock.after(POOL_OPERATION_DEADLINE_MS, () => {
    giveUp(item);
    give(silent);
  });
  return { item, answer };
}

const silent: PoolTrouble = {
  kind: "unavailable",
  why: `no answer within ${POOL_OPERATION_DEADLINE_MS / 1000} s`,
  mayHaveLanded: true,
};

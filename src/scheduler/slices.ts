import type { Clock } from "../platform/clock.ts";
import { SLICE_MS } from "./limits.ts";

/**
 * Calls `work` for each item, in order, for a few milliseconds per turn of the event loop. The first slice runs at once, so few items
 * are done when this returns.
 *
 * @returns drops what is left
 */
export function inSlices<T>(clock: Clock, items: readonly T[], work: (item: T) => void, done: () => void): () => void {
  let at = 0;
  let cancel = (): void => {};
  const slice = (): void => {
    const until = clock.elapsedNow() + SLICE_MS;
    for (let item = items[at]; item !== undefined; item = items[at]) {
      at++;
      work(item);
      if (clock.elapsedNow() >= until && at < items.length) {
        cancel = clock.after(0, slice);
        return;
      }
    }
    done();
  };
  slice();
  return () => cancel();
}

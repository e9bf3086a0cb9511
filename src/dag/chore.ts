import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";

/** Work that comes round again. Never twice at once; what it throws is logged and the next round comes all the same (6.2). */
export interface Chore {
  /** Now, or once more after the round under way. */
  soon(): void;
  readonly underWay: boolean;
  /** No further round. Resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/** @param everyMs from the end of one round to the next; Infinity when it only comes when asked for */
export function chore(
  name: string,
  everyMs: number,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  work: () => Promise<void>,
): Chore {
  let underWay: Promise<void> | null = null;
  let again = false;
  let stopped = false;
  let cancel = (): void => {};

  const round = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.error(`dags: ${name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
    underWay = null;
    if (stopped) return;
    if (again) begin();
    else cancel = clock.after(everyMs, begin);
  };

  const begin = (): void => {
    cancel();
    again = false;
    underWay = round();
  };

  return {
    soon() {
      if (stopped) return;
      if (underWay === null) begin();
      else again = true;
    },
    get underWay() {
      return underWay !== null;
    },
    async stop() {
      stopped = true;
      cancel();
      await underWay;
    },
  };
}

import type { DagConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import { isoInstant } from "../journal/instant.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { Outcome } from "../store/store.ts";
import { WAITING_SLOTS_MAX } from "./cadence.ts";

/**
 * Slots that have come due and have no run yet, in the order they came, per DAG. A slot that the store did not take waits; while it does,
 * only a DAG that makes up for everything keeps those before the newest, as after any other gap (D-SCH-7).
 */
export interface SlotQueue {
  add(dag: DagConfig, slot: EpochMs): void;
  /**
   * Creates what waits, by `create`. A DAG whose turn has not come yet keeps its slots, and whoever knows when it has comes again.
   *
   * @returns whether the store took everything
   */
  serve(create: (dag: string, slot: EpochMs) => Promise<Outcome<unknown> | "not for us" | "not yet">): Promise<boolean>;
}

export function createSlotQueue(log: Logger): SlotQueue {
  const waiting = new Map<string, EpochMs[]>();
  /** DAGs whose oldest slot the store did not take at the last try. */
  const refused = new Set<string>();

  const dropped = (dag: string, slots: readonly EpochMs[], why: string): void => {
    const [first] = slots;
    if (first === undefined) return;
    log.warning(`dag ${dag}: ${slots.length} due slot(s) from ${isoInstant(first)} on have no run: ${why}`);
  };

  return {
    add({ name, onMissed }, slot) {
      const slots = waiting.get(name) ?? [];
      waiting.set(name, slots);
      if (refused.has(name) && onMissed !== "run-all")
        dropped(name, slots.splice(0), "the store did not take them in time, and a newer one is due");
      slots.push(slot);
      dropped(name, slots.splice(0, slots.length - WAITING_SLOTS_MAX), `more than ${WAITING_SLOTS_MAX} wait`);
    },
    async serve(create) {
      let all = true;
      for (const [name, slots] of [...waiting]) {
        for (let slot = slots[0]; slot !== undefined; slot = slots[0]) {
          const outcome = await create(name, slot);
          if (outcome === "not yet") break;
          if (outcome !== "not for us" && outcome.kind !== "done") {
            refused.add(name);
            all = false;
            break;
          }
          refused.delete(name);
          if (slots[0] === slot) slots.shift(); // it may have been dropped meanwhile
        }
        if (slots.length === 0) waiting.delete(name);
      }
      return all;
    },
  };
}

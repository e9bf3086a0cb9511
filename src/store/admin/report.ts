import type { Inventory, StoreFacts } from "../store.ts";

/** What `state check` tells of a store that could be opened and written. */
export interface StoreReport extends StoreFacts {
  readonly streams: number;
  readonly records: number;
  /** Records per first part of the stream's name, sorted. */
  readonly recordsByPrefix: readonly { readonly prefix: string; readonly records: number }[];
  readonly quarantined: number;
}

export function storeReport(facts: StoreFacts, inventory: Inventory): StoreReport {
  const byPrefix = new Map<string, number>();
  for (const { name, records } of inventory.streams) {
    const prefix = name.split("/", 1)[0] ?? name;
    byPrefix.set(prefix, (byPrefix.get(prefix) ?? 0) + records);
  }
  const { unnamed, quarantined } = inventory;
  return {
    ...facts,
    streams: inventory.streams.length + unnamed.streams,
    records: inventory.streams.reduce((sum, { records }) => sum + records, 0) + unnamed.records,
    recordsByPrefix: [...byPrefix]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([prefix, records]) => ({ prefix, records })),
    quarantined,
  };
}

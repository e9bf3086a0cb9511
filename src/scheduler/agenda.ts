import type { EpochMs } from "../platform/clock.ts";

/**
 * Who is due when: a binary heap on the next fire instant, with a place index so that a job's instant can be changed or dropped
 * wherever it sits (DESIGN idea 3). A look at the soonest costs nothing; a change costs a few steps, whatever the number of jobs.
 */
export interface Agenda {
  /** Sets the instant of `name`, new or changed. */
  set(name: string, dueAt: EpochMs): void;
  delete(name: string): void;
  /** Instant of `name`, null when it waits for none. */
  get(name: string): EpochMs | null;
  /** The soonest instant, null when nothing waits. */
  soonest(): EpochMs | null;
  /** Takes out all that is due at or before `now`, soonest first. */
  takeDue(now: EpochMs): { readonly name: string; readonly dueAt: EpochMs }[];
  readonly size: number;
}

interface Entry {
  readonly name: string;
  dueAt: EpochMs;
  index: number;
}

export function createAgenda(): Agenda {
  const heap: Entry[] = [];
  const byName = new Map<string, Entry>();

  const place = (entry: Entry, index: number): void => {
    heap[index] = entry;
    entry.index = index;
  };

  const rise = (entry: Entry): void => {
    let index = entry.index;
    while (index > 0) {
      const parent = heap[(index - 1) >> 1];
      if (parent === undefined || parent.dueAt <= entry.dueAt) break;
      place(parent, index);
      index = (index - 1) >> 1;
    }
    place(entry, index);
  };

  const sink = (entry: Entry): void => {
    let index = entry.index;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const child = right !== undefined && left !== undefined && right.dueAt < left.dueAt ? right : left;
      if (child === undefined || child.dueAt >= entry.dueAt) break;
      const childIndex = child.index;
      place(child, index);
      index = childIndex;
    }
    place(entry, index);
  };

  const remove = (entry: Entry): void => {
    byName.delete(entry.name);
    const last = heap.pop();
    if (last === undefined || last === entry) return;
    place(last, entry.index);
    rise(last);
    sink(last);
  };

  return {
    set(name, dueAt) {
      const known = byName.get(name);
      if (known !== undefined) {
        known.dueAt = dueAt;
        rise(known);
        sink(known);
        return;
      }
      const entry: Entry = { name, dueAt, index: heap.length };
      byName.set(name, entry);
      heap.push(entry);
      rise(entry);
    },
    delete(name) {
      const entry = byName.get(name);
      if (entry !== undefined) remove(entry);
    },
    get: (name) => byName.get(name)?.dueAt ?? null,
    soonest: () => heap[0]?.dueAt ?? null,
    takeDue(now) {
      const due: { name: string; dueAt: EpochMs }[] = [];
      for (let first = heap[0]; first !== undefined && first.dueAt <= now; first = heap[0]) {
        remove(first);
        due.push({ name: first.name, dueAt: first.dueAt });
      }
      return due;
    },
    get size() {
      return heap.length;
    },
  };
}

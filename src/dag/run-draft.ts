import type { EpochSeconds, FanOut, RunDocument, TaskKey, TaskRecord } from "./run-document.ts";

/** A document under change. What stays is shared with the one it came from, and untouched it stays that very object. */
export interface RunDraft {
  readonly tasks: ReadonlyMap<TaskKey, TaskRecord>;
  readonly mapped: ReadonlyMap<string, FanOut>;
  /** Answers with the record. */
  put(key: TaskKey, record: TaskRecord): TaskRecord;
  freeze(id: string, fanOut: FanOut): void;
  /** The document as it is now, written at `now` if anything changed. */
  finish(now: EpochSeconds, verdict?: RunDocument["state"]): RunDocument;
}

export function draftOf(document: RunDocument): RunDraft {
  let tasks: Map<TaskKey, TaskRecord> | null = null;
  let mapped: Map<string, FanOut> | null = null;
  return {
    get tasks() {
      return tasks ?? document.tasks;
    },
    get mapped() {
      return mapped ?? document.mapped;
    },
    put(key, record) {
      tasks ??= new Map(document.tasks);
      tasks.set(key, record);
      return record;
    },
    freeze(id, fanOut) {
      mapped ??= new Map(document.mapped);
      mapped.set(id, fanOut);
    },
    finish(now, verdict = document.state) {
      if (tasks === null && mapped === null && verdict === document.state) return document;
      return {
        ...document,
        state: verdict,
        updatedAt: now,
        tasks: tasks ?? document.tasks,
        mapped: mapped ?? document.mapped,
      };
    },
  };
}

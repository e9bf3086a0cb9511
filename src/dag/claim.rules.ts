import type { JsonValue } from "../store/json.ts";
import type { TaskKey, TaskRecord } from "./run-document.ts";

/** One launch of one instance. Within its run it is named by task key, attempt and poke (D-CLM-2). */
export interface Claim {
  readonly taskKey: TaskKey;
  readonly taskId: string;
  readonly mapIndex: number | null;
  readonly mapItem: JsonValue;
  readonly attempt: number;
  /** Pokes before this one; null for what is no sensor. */
  readonly poke: number | null;
}

/** The claim an instance is in, or would be in if it were claimed now as what it is. */
export function claimOf(taskKey: TaskKey, record: TaskRecord): Claim {
  const { id, mapIndex, mapItem = null, attempt, pokeCount = null } = record;
  return { taskKey, taskId: id, mapIndex, mapItem, attempt, poke: pokeCount };
}

/** Names a claim within its run. No task key holds a `/`. */
export function claimKey({ taskKey, attempt, poke }: Pick<Claim, "taskKey" | "attempt" | "poke">): string {
  return `${taskKey}/${attempt}/${poke ?? ""}`;
}

/**
 * Whether a record still is in the claim a late write belongs to (D-CLM-9). A sensor's pokes differ in their number only.
 *
 * @param proc token of the process that made the claim
 */
export function isInClaim(record: TaskRecord, claim: Claim, proc: string): boolean {
  return (
    record.state === "running" &&
    record.proc === proc &&
    record.attempt === claim.attempt &&
    (record.pokeCount ?? null) === claim.poke
  );
}

import { type Backend, onBackend } from "../journal/backend.ts";
import { isArray, isObject, type JsonObject, jsonFloat, plainJson } from "../store/json.ts";
import type { Outcome } from "../store/store.ts";
import { RECOVERY_KEPT_MS } from "./cadence.ts";
import { planBody, type RecoveryPlan } from "./recovery.rules.ts";
import type { EpochSeconds } from "./run-document.ts";
import { recoveryNamespace } from "./run-key.rules.ts";

/** The recoveries of a range: what is to be created, and what is (15). While it is not complete it protects the runs it is about. */
export interface Batch {
  readonly plans: readonly { readonly sourceRunKey: string; readonly planToken: string }[];
  /** Sources whose recovery is created. */
  readonly done: ReadonlySet<string>;
  readonly complete: boolean;
  readonly updatedAt: EpochSeconds;
  readonly body: JsonObject;
  with(sourceRunKey: string, result: JsonObject, now: EpochSeconds): Batch;
  completed(now: EpochSeconds): Batch;
}

export function freshBatch(plans: readonly RecoveryPlan[], now: EpochSeconds): Batch {
  const bodies = plans.map(({ planToken, ...plan }) => ({ ...planBody(plan), planToken }));
  return batchOf({ plans: bodies, results: {}, complete: false, createdAt: jsonFloat(now), updatedAt: jsonFloat(now) });
}

function batchOf(body: JsonObject): Batch {
  const { plans, results, complete, updatedAt } = body;
  const listed = plans !== undefined && isArray(plans) ? plans : [];
  const known = isObject(results) ? results : {};
  const seconds = plainJson(updatedAt ?? null);
  return {
    body,
    plans: listed.flatMap((plan) => {
      if (!isObject(plan)) return [];
      const { sourceRunKey, planToken } = plan;
      return typeof sourceRunKey === "string" && typeof planToken === "string" ? [{ sourceRunKey, planToken }] : [];
    }),
    done: new Set(Object.keys(known)),
    complete: complete === true,
    updatedAt: typeof seconds === "number" ? seconds : 0,
    with: (sourceRunKey, result, now) =>
      batchOf({ ...body, results: { ...known, [sourceRunKey]: result }, updatedAt: jsonFloat(now) }),
    completed: (now) => batchOf({ ...body, complete: true, updatedAt: jsonFloat(now) }),
  };
}

export async function readBatch(backend: Backend, dag: string, token: string): Promise<Outcome<Batch | null>> {
  const read = await onBackend(backend, ({ documents }) => documents.read(recoveryNamespace(dag), token));
  if (read.kind !== "done") return read;
  const { body } = read.value;
  return { kind: "done", value: body === null ? null : batchOf(body) };
}

/** @param next null leaves it as it is */
export function changeBatch(
  backend: Backend,
  dag: string,
  token: string,
  next: (found: Batch | null) => Batch | null,
): Promise<Outcome<null>> {
  return onBackend(backend, ({ documents }) =>
    documents.mutate<null>(recoveryNamespace(dag), token, (body) => {
      const changed = next(body === null ? null : batchOf(body));
      return changed === null || changed.body === body
        ? { kind: "keep", answer: null }
        : { kind: "put", body: changed.body, answer: null };
    }),
  );
}

/** Every batch that still counts; those that have had their time are deleted. */
export async function liveBatches(
  backend: Backend,
  dag: string,
  now: EpochSeconds,
): Promise<Outcome<readonly JsonObject[]>> {
  const namespace = recoveryNamespace(dag);
  const keys = await onBackend(backend, ({ documents }) => documents.keys(namespace));
  if (keys.kind !== "done") return keys;
  const live: JsonObject[] = [];
  const isOver = (body: JsonObject): boolean => batchOf(body).updatedAt < now - RECOVERY_KEPT_MS / 1000;
  for (const key of keys.value.names) {
    const read = await onBackend(backend, ({ documents }) => documents.read(namespace, key));
    if (read.kind !== "done") return read;
    const { body } = read.value;
    if (body === null) continue;
    if (!isOver(body)) live.push(body);
    else
      await onBackend(backend, ({ documents }) =>
        documents.mutate<null>(namespace, key, (found) =>
          found !== null && isOver(found) ? { kind: "delete", answer: null } : { kind: "keep", answer: null },
        ),
      );
  }
  return { kind: "done", value: live };
}

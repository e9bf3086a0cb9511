import { isArray, isObject, JsonFloat, type JsonObject, type JsonValue, jsonFloat } from "../store/json.ts";
import type { FanOut, RunDocument, RunState, TaskRecord } from "./run-document.ts";

/** What a stored document can turn out to be. No pass may touch a damaged one (D-REC-2); `problem` names the entry. */
export type DecodedRun =
  | { readonly kind: "run"; readonly run: RunDocument }
  | { readonly kind: "damaged"; readonly problem: string };

class Damaged extends Error {}

/** Reads a run document; members that were added to the format later may be missing (D-REC-1). */
export function decodeRun(body: JsonObject): DecodedRun {
  try {
    return { kind: "run", run: runOf(body) };
  } catch (error) {
    if (error instanceof Damaged) return { kind: "damaged", problem: error.message };
    throw error;
  }
}

function runOf(body: JsonObject): RunDocument {
  const { dag, runKey, runId, kind, logicalDate, state, createdAt, updatedAt, tasks, mapped, ...rest } = body;
  const { configurationRevision, recovery, ...others } = rest;
  return {
    dag: text(dag, "dag"),
    runKey: text(runKey, "runKey"),
    runId: text(runId, "runId"),
    kind: text(kind, "kind"),
    logicalDate: textOrNull(logicalDate ?? null, "logicalDate"),
    state: runState(state),
    createdAt: number(createdAt, "createdAt"),
    updatedAt: number(updatedAt, "updatedAt"),
    tasks: new Map(Object.entries(object(tasks, "tasks")).map(([key, record]) => [key, recordOf(record, key)])),
    mapped: new Map(Object.entries(object(mapped, "mapped")).map(([id, fanOut]) => [id, fanOutOf(fanOut, id)])),
    configurationRevision: textOrNull(configurationRevision ?? null, "configurationRevision"),
    recovery: (recovery ?? null) === null ? null : object(recovery, "recovery"),
    others,
  };
}

/** The document as the store keeps it. Instants are floats there whatever their value (FMT-6). */
export function encodeRun(run: RunDocument): JsonObject {
  const { configurationRevision, recovery, others, tasks, mapped, createdAt, updatedAt, ...texts } = run;
  return {
    ...others,
    ...texts,
    createdAt: jsonFloat(createdAt),
    updatedAt: jsonFloat(updatedAt),
    tasks: Object.fromEntries([...tasks].map(([key, record]) => [key, recordBody(record)])),
    mapped: Object.fromEntries([...mapped].map(([id, fanOut]) => [id, withFloats(fanOut, ["expandedAt"])])),
    ...(configurationRevision === null ? {} : { configurationRevision }),
    ...(recovery === null ? {} : { recovery }),
  };
}

type Check = (value: JsonValue) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" || value instanceof JsonFloat;
const isBoolean: Check = (value) => typeof value === "boolean";
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

/** Fields of a record that are read. Those with a fallback have stood in every document so far and may be missing all the same. */
const fields: readonly (readonly [name: string, check: Check, fallback?: JsonValue])[] = [
  ["id", isText],
  ["state", isText],
  ["mapIndex", orNull(isNumber), null],
  ["attempt", isNumber, 0],
  ["proc", orNull(isText), null],
  ["pid", orNull(isNumber), null],
  ["host", orNull(isText), null],
  ["startedAt", orNull(isNumber), null],
  ["finishedAt", orNull(isNumber), null],
  ["exitCode", orNull(isNumber), null],
  ["failReason", orNull(isText), null],
  ["resources", () => true, null],
  ["updatedAt", isNumber, 0],
];

const laterFields: Readonly<Record<string, Check>> = {
  mapped: isBoolean,
  nextRetryAt: orNull(isNumber),
  pokeCount: isNumber,
  nextPokeAt: orNull(isNumber),
  firstPokeAt: orNull(isNumber),
  approval: orNull((value) => isObject(value)),
  awaitingApproval: isBoolean,
  approvalNotifiedAt: isNumber,
  pidStart: (value) => value === null || isText(value) || isNumber(value),
  reusedFrom: isText,
};

/** Numbers that are plain in memory, whole or not, and floats in the store. */
const floats = [
  "startedAt",
  "finishedAt",
  "updatedAt",
  "nextRetryAt",
  "nextPokeAt",
  "firstPokeAt",
  "approvalNotifiedAt",
];

function recordOf(value: JsonValue, key: string): TaskRecord {
  const entry = `tasks[${JSON.stringify(key)}]`;
  let record = object(value, entry);
  for (const [name, check, fallback] of fields) {
    let field = Object.hasOwn(record, name) ? record[name] : undefined;
    if (field === undefined) {
      if (fallback === undefined) throw new Damaged(`${entry} has no ${name}`);
      field = fallback;
      record = { ...record, [name]: fallback };
    }
    if (!check(field)) throw new Damaged(`${entry}.${name} is not what it should be`);
    if (field instanceof JsonFloat) record = { ...record, [name]: field.value };
  }
  for (const name of Object.keys(record)) {
    const field = record[name];
    const check = Object.hasOwn(laterFields, name) ? laterFields[name] : undefined;
    if (check === undefined || field === undefined) continue;
    if (!check(field)) throw new Damaged(`${entry}.${name} is not what it should be`);
    if (field instanceof JsonFloat) record = { ...record, [name]: field.value };
  }
  const { approval } = record;
  if (isObject(approval) && approval.at instanceof JsonFloat)
    record = { ...record, approval: { ...approval, at: approval.at.value } };
  return record as TaskRecord; // every field was looked at
}

function fanOutOf(value: JsonValue, id: string): FanOut {
  const entry = `mapped[${JSON.stringify(id)}]`;
  const { items, expandedAt, ...rest } = object(value, entry);
  if (items === undefined || !isArray(items)) throw new Damaged(`${entry}.items is not a list`);
  return { ...rest, items, expandedAt: number(expandedAt ?? 0, `${entry}.expandedAt`) };
}

function recordBody(record: TaskRecord): JsonObject {
  const body = withFloats(record, floats);
  const { approval } = body;
  return isObject(approval) ? { ...body, approval: withFloats(approval, ["at"]) } : body;
}

/** The same object where no float of it has a whole value, as almost always. */
function withFloats(object: JsonObject, names: readonly string[]): JsonObject {
  let body = object;
  for (const name of names) {
    const value = body[name];
    if (typeof value === "number" && Number.isInteger(value)) body = { ...body, [name]: new JsonFloat(value) };
  }
  return body;
}

function object(value: JsonValue | undefined, where: string): JsonObject {
  if (isObject(value)) return value;
  throw new Damaged(`${where} is ${value === null ? "null" : "not an object"}`);
}

function text(value: JsonValue | undefined, where: string): string {
  if (typeof value === "string") return value;
  throw new Damaged(`${where} is not a text`);
}

function textOrNull(value: JsonValue, where: string): string | null {
  return value === null ? null : text(value, where);
}

function number(value: JsonValue | undefined, where: string): number {
  if (typeof value === "number") return value;
  if (value instanceof JsonFloat) return value.value;
  throw new Damaged(`${where} is not a number`);
}

function runState(value: JsonValue | undefined): RunState {
  if (value === "running" || value === "success" || value === "failed") return value;
  throw new Damaged("state is none of running, success and failed");
}

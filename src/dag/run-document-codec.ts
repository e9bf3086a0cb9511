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

interface Field {
  readonly name: string;
  readonly is: Check;
  /** What a record without it is taken to say; undefined where it stays without. */
  readonly otherwise?: JsonValue;
}

/** Fields of a record that are read: those of every record, and those of some kinds or of later builds. */
const fields: readonly Field[] = [
  { name: "mapIndex", is: orNull(isNumber), otherwise: null },
  { name: "attempt", is: isNumber, otherwise: 0 },
  { name: "proc", is: orNull(isText), otherwise: null },
  { name: "pid", is: orNull(isNumber), otherwise: null },
  { name: "host", is: orNull(isText), otherwise: null },
  { name: "startedAt", is: orNull(isNumber), otherwise: null },
  { name: "finishedAt", is: orNull(isNumber), otherwise: null },
  { name: "exitCode", is: orNull(isNumber), otherwise: null },
  { name: "failReason", is: orNull(isText), otherwise: null },
  { name: "resources", is: () => true, otherwise: null },
  { name: "updatedAt", is: isNumber, otherwise: 0 },
  { name: "mapped", is: isBoolean },
  { name: "nextRetryAt", is: orNull(isNumber) },
  { name: "pokeCount", is: isNumber },
  { name: "nextPokeAt", is: orNull(isNumber) },
  { name: "firstPokeAt", is: orNull(isNumber) },
  { name: "approval", is: orNull((value) => isObject(value)) },
  { name: "awaitingApproval", is: isBoolean },
  { name: "approvalNotifiedAt", is: isNumber },
  { name: "pidStart", is: (value) => value === null || isText(value) || isNumber(value) },
  { name: "reusedFrom", is: isText },
];

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
  text(record.id, `${entry}.id`);
  text(record.state, `${entry}.state`);
  for (const { name, is, otherwise } of fields) {
    const field = record[name]; // no name here is one that objects have by themselves
    if (field === undefined) {
      if (otherwise !== undefined) record = { ...record, [name]: otherwise };
    } else if (!is(field)) throw new Damaged(`${entry}.${name} is not what it should be`);
    else if (field instanceof JsonFloat) record = { ...record, [name]: field.value };
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

/** Bodies of records, which never change: most records of a run are in its next document too. */
const bodies = new WeakMap<TaskRecord, JsonObject>();

function recordBody(record: TaskRecord): JsonObject {
  const known = bodies.get(record);
  if (known !== undefined) return known;
  const plain = withFloats(record, floats);
  const { approval } = plain;
  const body = isObject(approval) ? { ...plain, approval: withFloats(approval, ["at"]) } : plain;
  bodies.set(record, body);
  return body;
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

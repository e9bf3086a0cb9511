import type { Readable } from "node:stream";
import { isObject, type JsonObject, type JsonValue } from "../../store/json.ts";
import { spacedJson } from "../../store/json-spaced.ts";
import { BadJson, parseJson } from "../../store/json-text.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Exchange, exchange, type Reply, type RequestBody } from "./exchange.ts";
import { JobApiError } from "./job-api-error.ts";

/** How long a call may take; one that waits for a lock has as long on top of its wait (CLI-3). */
const PATIENCE_MS = 30_000;

/** Null: the calling job's own scope, which the endpoint knows. */
export type Scope = string | null;

/** What is to be found under a name; undefined when nothing is. */
export type Found<T> = T | undefined;

export async function kvGet(endpoint: Endpoint, scope: Scope, key: string): Promise<Found<JsonValue>> {
  return (await look(endpoint, "/v1/kv/get", { scope, key }))?.value;
}

export async function kvSet(endpoint: Endpoint, scope: Scope, key: string, value: JsonValue): Promise<void> {
  await post(endpoint, "/v1/kv/set", { scope, key, value });
}

/** Whether there was something to delete. */
export async function kvDelete(endpoint: Endpoint, scope: Scope, key: string): Promise<boolean> {
  return (await post(endpoint, "/v1/kv/delete", { scope, key })).existed === true;
}

export async function kvList(endpoint: Endpoint, scope: Scope): Promise<readonly JsonObject[]> {
  return objects((await get(endpoint, "/v1/kv/list", { scope })).keys);
}

export async function cursorGet(endpoint: Endpoint, scope: Scope, name: string): Promise<Found<JsonValue>> {
  return (await look(endpoint, "/v1/cursor/get", { scope, name }))?.value;
}

/** What the cursor is now, moved or not. */
export async function cursorAdvance(
  endpoint: Endpoint,
  scope: Scope,
  name: string,
  value: JsonValue,
  force: boolean,
): Promise<{ readonly value: JsonValue; readonly advanced: boolean }> {
  const answer = await post(endpoint, "/v1/cursor/advance", { scope, name, value, force });
  return { value: answer.value ?? null, advanced: answer.advanced === true };
}

/** Whether this claim is the first. */
export async function claim(endpoint: Endpoint, scope: Scope, key: string, ttlSeconds: number): Promise<boolean> {
  return (await post(endpoint, "/v1/idempotency/claim", { scope, key, ttl: ttlSeconds })).fresh === true;
}

/** Whether there was a claim to release. */
export async function releaseClaim(endpoint: Endpoint, scope: Scope, key: string): Promise<boolean> {
  return (await post(endpoint, "/v1/idempotency/release", { scope, key })).released === true;
}

export interface LockRequest {
  readonly permits: number;
  readonly wait: boolean;
  readonly blockSeconds: number;
  /** Null: the endpoint's own. */
  readonly ttlSeconds: number | null;
}

/** A lock that the daemon holds for this run. */
export interface HeldLock {
  readonly token: string;
  readonly slot: number;
  readonly fence: number;
}

/**
 * Null when it is taken.
 *
 * @param abort gives the wait up: the connection ends, and the daemon hands back what it may have won
 */
export async function lockAcquire(
  endpoint: Endpoint,
  scope: Scope,
  name: string,
  { permits, wait, blockSeconds, ttlSeconds }: LockRequest,
  abort?: AbortSignal,
): Promise<HeldLock | null> {
  const fields = { scope, name, permits, wait, blockSeconds, ttl: ttlSeconds };
  const patienceMs = PATIENCE_MS + (wait ? Math.max(0, blockSeconds) * 1000 : 0);
  const { acquired, token, slot, fence } = await post(endpoint, "/v1/lock/acquire", fields, { patienceMs, abort });
  if (acquired !== true) return null;
  return { token: String(token), slot: Number(slot), fence: Number(fence) };
}

/** Whether the lock was still held. */
export async function lockRelease(endpoint: Endpoint, token: string): Promise<boolean> {
  return (await post(endpoint, "/v1/lock/release", { token })).released === true;
}

export interface ArtifactContent {
  readonly content: Uint8Array | Readable;
  readonly bytes: number;
}

/** The SHA-256 of what is stored now, in hex. */
export async function artifactPut(
  endpoint: Endpoint,
  scope: Scope,
  name: string,
  content: ArtifactContent,
): Promise<string> {
  const body: RequestBody = { type: "application/octet-stream", ...content };
  const path = withQuery("/v1/artifact/put", { scope, name });
  const reply = await exchange(endpoint, { method: "POST", path, body, patienceMs: PATIENCE_MS });
  return String(objectOf(reply).sha256);
}

export async function artifactGet(endpoint: Endpoint, scope: Scope, name: string): Promise<Found<Buffer>> {
  const path = withQuery("/v1/artifact/get", { scope, name });
  const reply = await exchange(endpoint, { method: "GET", path, patienceMs: PATIENCE_MS });
  if (reply.status === 404) return undefined;
  return successful(reply).body;
}

export async function artifactList(endpoint: Endpoint, scope: Scope): Promise<readonly JsonObject[]> {
  return objects((await get(endpoint, "/v1/artifact/list", { scope })).artifacts);
}

export async function secretGet(endpoint: Endpoint, name: string): Promise<Found<string>> {
  const value = (await look(endpoint, "/v1/secret/get", { name }))?.value;
  return typeof value === "string" ? value : undefined;
}

export async function secretList(endpoint: Endpoint): Promise<readonly string[]> {
  const { names } = await get(endpoint, "/v1/secret/list", {});
  return Array.isArray(names) ? names.map(String) : [];
}

type Query = Readonly<Record<string, string | null>>;

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return given.length === 0 ? path : `${path}?${given.join("&")}`;
}

async function look(endpoint: Endpoint, path: string, query: Query): Promise<Found<JsonObject>> {
  const reply = await exchange(endpoint, { method: "GET", path: withQuery(path, query), patienceMs: PATIENCE_MS });
  return reply.status === 404 ? undefined : objectOf(reply);
}

async function get(endpoint: Endpoint, path: string, query: Query): Promise<JsonObject> {
  return objectOf(await exchange(endpoint, { method: "GET", path: withQuery(path, query), patienceMs: PATIENCE_MS }));
}

async function post(
  endpoint: Endpoint,
  path: string,
  fields: JsonObject,
  patience: Pick<Exchange, "patienceMs" | "abort"> = { patienceMs: PATIENCE_MS },
): Promise<JsonObject> {
  const content = jsonText(fields);
  const body: RequestBody = { type: "application/json", content, bytes: content.length };
  return objectOf(await exchange(endpoint, { method: "POST", path, body, ...patience }));
}

function jsonText(fields: JsonObject): string {
  try {
    return spacedJson(fields);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new JobApiError("refused", `value is not portable across the fleet: ${error.message}`);
  }
}

/** @throws JobApiError for an answer that is no success */
function successful(reply: Reply): Reply {
  if (reply.status >= 200 && reply.status < 300) return reply;
  const said = parsed(reply)?.error;
  const message = typeof said === "string" ? said : `the state endpoint returned HTTP ${reply.status}`;
  throw new JobApiError("refused", message, reply.status);
}

function objectOf(reply: Reply): JsonObject {
  const object = parsed(successful(reply));
  if (object !== null) return object;
  throw new JobApiError("refused", "the state endpoint did not answer with a JSON object", reply.status);
}

function parsed({ body }: Reply): JsonObject | null {
  try {
    const value = parseJson(body.toString("utf8"));
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof BadJson) return null;
    throw error;
  }
}

function objects(list: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

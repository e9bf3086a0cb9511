import type { StateInspection } from "../contract/state-inspection.ts";
import type { StateOverview } from "../contract/wire/state.ts";
import type { Clock } from "../platform/clock.ts";
import { isArray, isObject, JsonFloat, type JsonObject, type JsonValue, plainJson } from "../store/json.ts";
import { encodeJson } from "../store/json-text.ts";
import type { Lease, Store } from "../store/store.ts";

export interface StateInspectionParts {
  readonly clock: Clock;
  /** The store of the moment; null while it did not start. */
  store(): Store | null;
  jobSetId(): string;
  readonly host: string;
  /** What this node itself holds, from memory. */
  node(): Pick<StateOverview["node"], "retries" | "slots">;
}

/** Scopes shown of one key, and leases: the rest is left out (http 7.8). */
const SCOPES_MAX = 200;
const LEASES_MAX = 200;

/** For listing the whole store: then it is shown as one that cannot be listed. */
const INVENTORY_LIMIT_MS = 10_000;

/** A look into the store for people: names and numbers, never what jobs keep there. */
export function createStateInspection(parts: StateInspectionParts): StateInspection {
  const { clock, store, jobSetId, host, node } = parts;
  return {
    async overview() {
      const opened = store();
      if (opened === null) return null;
      const options = { deadlineMs: INVENTORY_LIMIT_MS };
      const [inventory, leases] = await Promise.all([opened.upkeep.inventory(options), opened.leases.list(options)]);
      const listed = inventory.kind === "done" && leases.kind === "done";
      return {
        records: listed ? grouped(inventory.value.streams.map(({ name, records }) => [name, records])) : {},
        documents: listed ? grouped(inventory.value.namespaces.map(({ name, documents }) => [name, documents])) : {},
        leases: listed ? leases.value.slice(0, LEASES_MAX).map((lease) => leaseShown(lease, clock)) : [],
        quarantine: listed ? inventory.value.quarantined : 0,
        view: viewOf(opened, jobSetId()),
        stats: statsOf(opened),
        enumerable: listed,
        enabled: true,
        node: { host, ...node() },
      };
    },
    async documents(namespace) {
      const listed = await store()?.documents.list(namespace);
      if (listed?.kind !== "done") return [];
      const shown = namespace.startsWith("kv/") ? described : (body: JsonObject) => plainObject(body);
      return listed.value.map(shown);
    },
    async records(stream, limit) {
      const listed = await store()?.records.list(stream, { order: "newest first", limit, reading: "tolerant" });
      return listed?.kind === "done" ? listed.value.map(({ data }) => plainObject(data)) : [];
    },
  };
}

/** By the first part of the name; the rest of it is the scope. */
function grouped(counts: readonly (readonly [name: string, count: number])[]): StateOverview["records"] {
  const groups = new Map<string, { count: number; streams: number; scopes: { scope: string; count: number }[] }>();
  for (const [name, count] of counts) {
    const slash = name.indexOf("/");
    const key = slash === -1 ? name : name.slice(0, slash);
    const group = groups.get(key) ?? { count: 0, streams: 0, scopes: [] };
    groups.set(key, group);
    group.count += count;
    group.streams++;
    if (group.scopes.length < SCOPES_MAX)
      group.scopes.push({ scope: slash === -1 ? "" : name.slice(slash + 1), count });
  }
  return Object.fromEntries(groups);
}

function leaseShown({ name, holder, fence, expiresAtSeconds }: Lease, clock: Clock): StateOverview["leases"][number] {
  return { name, holder, fence, expiresAt: expiresAtSeconds, expired: expiresAtSeconds <= clock.wallNow() / 1000 };
}

function viewOf({ facts }: Store, jobSetId: string): StateOverview["view"] {
  const { backend, location, namespace, topology, sharedLocking } = facts;
  return { backend, path: location, namespace, topology, shared_locking: sharedLocking, job_set_id: jobSetId };
}

function statsOf(store: Store): StateOverview["stats"] {
  const { operations, lanes, ...counters } = store.counters();
  const ops = Object.entries(operations).map(([label, { finished, errors, seconds }]) => [
    label,
    { count: finished, errors, seconds },
  ]);
  return {
    ops: Object.fromEntries(ops),
    lock: { acquisitions: counters.lockAcquisitions, wait_seconds: counters.lockWaitSeconds },
    throttle: { count: counters.throttledOperations, wait_seconds: counters.throttleWaitSeconds },
    workers: {
      bulk_inflight: lanes.bulk.inflight,
      bulk_peak: lanes.bulk.peak,
      bulk_capacity: lanes.bulk.capacity,
      lease_inflight: lanes.lease.inflight,
      lease_peak: lanes.lease.peak,
      lease_capacity: lanes.lease.capacity,
    },
  };
}

/** What a job stored, by its size and type: the value itself stays where it is. */
function described({ value = null, ...body }: JsonObject): Readonly<Record<string, unknown>> {
  return { ...plainObject(body), valueSize: spacedBytes(value), valueType: typeName(value) };
}

/** The names that readers of this answer have always known the types by. */
function typeName(value: JsonValue): string {
  if (value === null) return "NoneType";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "str";
  if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))) return "int";
  if (typeof value === "number" || value instanceof JsonFloat) return "float";
  return isArray(value) ? "list" : "dict";
}

/** Bytes of a value's JSON as other builds write it: with a blank after each comma and colon. */
function spacedBytes(value: JsonValue): number {
  const encoded = encodeJson(value);
  return encoded.kind === "text" ? Buffer.byteLength(encoded.text) + blanks(value) : 0;
}

function blanks(value: JsonValue): number {
  if (value === null || typeof value !== "object" || value instanceof JsonFloat) return 0;
  const members = isObject(value) ? Object.values(value) : isArray(value) ? value : [];
  const own = Math.max(0, members.length - 1) + (isObject(value) ? members.length : 0);
  return members.reduce<number>((sum, member) => sum + blanks(member), own);
}

function plainObject(body: JsonObject): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, plainJson(value)]));
}

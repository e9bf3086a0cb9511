import { createHash } from "node:crypto";
import type { DocumentText, Engine, Row } from "../engine.ts";
import { decodeEnvelope } from "../envelope.ts";
import { compareCodePoints, JsonFloat, type JsonObject, type JsonValue } from "../json.ts";
import { encodeJson } from "../json-text.ts";
import { acquired, type LeaseDecision, released, renewed, type Standing } from "../lease.rules.ts";
import { compareValues } from "../order.ts";
import { nextRecordId, writtenAtSeconds } from "../record-id.ts";
import type { Lease, Names } from "../store.ts";
import { insertRecord, type MemoryMedium, removeOldest } from "./medium.ts";

/** A store in memory, with the promises of the one on disk; a test and a simulation run on it. */
export function memoryEngine(medium: MemoryMedium, writer: string, clock: { wallMicros(): number }): Engine {
  let sequence = 0;
  const nowSeconds = (): number => clock.wallMicros() / 1e6;

  const rowsOf = (stream: string): readonly Row[] => {
    const known = medium.streams.get(stream);
    return known === undefined ? [] : known.ids.map((id) => ({ id, text: known.texts.get(id) ?? "" }));
  };

  const add = (stream: string, text: string): string => {
    const floor = medium.streams.get(stream)?.ids.at(-1) ?? null;
    const id = nextRecordId(floor, clock.wallMicros(), writer, ++sequence);
    insertRecord(medium, stream, id, text);
    return id;
  };

  const prune = (stream: string, keep: number): number =>
    removeOldest(medium, stream, (medium.streams.get(stream)?.ids.length ?? 0) - Math.max(0, keep));

  const documentOf = (namespace: string, key: string): DocumentText => {
    const text = medium.documents.get(namespace)?.get(key) ?? null;
    return { text, version: text };
  };

  const changeLease = <T>(name: string, decide: (standing: Standing) => LeaseDecision<T>): T => {
    const kept = medium.leases.get(name);
    const { write, answer } = decide(kept === undefined ? { kind: "absent" } : { kind: "lease", lease: kept.lease });
    if (write !== null) medium.leases.set(name, { lease: write, writtenAtSeconds: nowSeconds() });
    return answer;
  };

  const liveLease = (name: string): Lease | null => {
    const lease = medium.leases.get(name)?.lease;
    return lease !== undefined && lease.expiresAtSeconds > 0 ? lease : null;
  };

  return {
    start: ({ topology }) => ({
      backend: "memory",
      location: "memory",
      namespace: "default",
      topology: topology === "shared" ? "shared" : "single-node",
      sharedLocking: topology === "shared",
    }),

    append({ stream, text, keep }) {
      const id = add(stream, text);
      if (keep !== null) prune(stream, Math.max(1, keep));
      return { id };
    },

    publish({ stream, field, key, text }) {
      const versions = rowsOf(stream).filter((row) => dataOf(row.text)[field] === key);
      const id = add(stream, text);
      const known = medium.streams.get(stream);
      for (const { id: old } of versions.slice(0, -1)) {
        known?.texts.delete(old);
        known?.ids.splice(known.ids.indexOf(old), 1);
      }
      return { id };
    },

    listRecords({ stream, newestFirst, limit }) {
      const rows = rowsOf(stream);
      return (newestFirst ? rows.toReversed() : rows).slice(0, limit);
    },

    newestByKey({ stream, field, key }) {
      const newest = new Map<string, Row>();
      const rows = rowsOf(stream);
      for (const row of rows.toReversed()) {
        const value = dataOf(row.text)[field];
        if (typeof value === "string" && !newest.has(value) && (key === null || key === value)) newest.set(value, row);
      }
      return { rows: [...newest.values()], highestId: rows.at(-1)?.id ?? null };
    },

    maxOfField({ stream, field }) {
      let best: JsonValue = null;
      for (const { text } of rowsOf(stream)) {
        const value = dataOf(text)[field] ?? null;
        if (value !== null && (best === null || (compareValues(value, best) ?? 0) > 0)) best = value;
      }
      const encoded = best === null ? null : encodeJson(best);
      return encoded?.kind === "text" ? encoded.text : null;
    },

    prune: ({ stream, keep }) => prune(stream, keep),
    streamNames: ({ prefix }) => namesUnder(medium.streams.keys(), prefix),

    readDocument: ({ namespace, key }) => documentOf(namespace, key),
    peekDocument: ({ namespace, key }) => documentOf(namespace, key).text,

    swapDocument({ namespace, key, version, text }) {
      const current = documentOf(namespace, key);
      if (current.version !== version) return { swapped: false, current };
      const documents = medium.documents.get(namespace) ?? new Map<string, string>();
      if (text !== null) medium.documents.set(namespace, documents.set(key, text));
      else if (documents.delete(key) && documents.size === 0) medium.documents.delete(namespace);
      return { swapped: true, version: text };
    },

    listDocuments: ({ namespace }) => [...(medium.documents.get(namespace) ?? [])].sort(byKey).map(([, text]) => text),
    documentKeys: ({ namespace }) => namesUnder(medium.documents.get(namespace)?.keys() ?? [], ""),
    namespaceNames: ({ prefix }) => namesUnder(medium.documents.keys(), prefix),

    putBlob({ bytes }) {
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      medium.blobs.set(sha256, { bytes: Uint8Array.from(bytes), storedAtSeconds: nowSeconds() });
      return sha256;
    },
    getBlob: ({ sha256 }) => medium.blobs.get(sha256)?.bytes.slice() ?? null,

    acquireLease: ({ name, holder, ttlSeconds }) =>
      changeLease(name, (standing) => acquired(standing, name, holder, ttlSeconds, nowSeconds())),
    renewLease: ({ lease, ttlSeconds }) =>
      changeLease(lease.name, (standing) => renewed(standing, lease, ttlSeconds, nowSeconds())),
    releaseLease: ({ lease }) => changeLease(lease.name, (standing) => released(standing, lease)),
    readLease: ({ name }) => liveLease(name),
    listLeases: () =>
      [...medium.leases.keys()]
        .sort()
        .map(liveLease)
        .filter((lease) => lease !== null),
    probeLocks: () => ({ kind: "exclusive" }),

    collectStream({ stream, beforeSeconds, dryRun }) {
      const ids = medium.streams.get(stream)?.ids ?? [];
      if (ids.length === 0) return { kind: "kept", because: "absent" };
      if (Math.max(...ids.map(writtenAtSeconds)) >= beforeSeconds) return { kind: "kept", because: "recent" };
      const records = ids.length;
      if (!dryRun) medium.streams.delete(stream);
      return { kind: "collected", records };
    },

    collectDocuments({ namespace, field, beforeSeconds, dryRun }) {
      const documents = medium.documents.get(namespace) ?? new Map<string, string>();
      const expired = [...documents].filter(([, text]) => {
        const value = dataOf(text)[field];
        const number = value instanceof JsonFloat ? value.value : value;
        return typeof number === "number" && number < beforeSeconds;
      });
      if (!dryRun) for (const [key] of expired) documents.delete(key);
      return expired.length;
    },

    collectLeases({ prefix, beforeSeconds, dryRun }) {
      const dead = [...medium.leases].filter(
        ([name, { lease, writtenAtSeconds: written }]) =>
          name.startsWith(prefix) && lease.expiresAtSeconds < beforeSeconds && written < beforeSeconds,
      );
      if (!dryRun) for (const [name] of dead) medium.leases.delete(name);
      return dead.length;
    },

    collectBlobs({ shard, referenced, beforeSeconds, dryRun }) {
      const unused = [...medium.blobs].filter(
        ([sha256, { storedAtSeconds }]) =>
          sha256.startsWith(shard) && !referenced.includes(sha256) && storedAtSeconds < beforeSeconds,
      );
      if (!dryRun) for (const [sha256] of unused) medium.blobs.delete(sha256);
      return unused.length;
    },

    tidy: () => ({ temporaries: 0, quarantined: 0, locks: 0 }),

    inventory: () => ({
      streams: [...medium.streams].map(([name, { ids }]) => ({ name, records: ids.length })),
      namespaces: [...medium.documents].map(([name, documents]) => ({ name, documents: documents.size })),
      unnamed: { streams: 0, records: 0, namespaces: 0 },
      quarantined: 0,
    }),

    learn: () => undefined,
  };
}

function dataOf(text: string): JsonObject {
  const decoded = decodeEnvelope(text);
  return decoded.kind === "current" ? decoded.data : {};
}

function namesUnder(names: Iterable<string>, prefix: string): Names {
  return { names: [...names].filter((name) => name.startsWith(prefix)).sort(compareCodePoints), complete: true };
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return compareCodePoints(a, b);
}

import type { Executor } from "../executor.ts";
import type { Blobs, Leases, Store, StoreFacts } from "../store.ts";
import { type Call, callOn } from "./call.ts";
import { documentsOver } from "./documents.ts";
import { recordsOver } from "./records.ts";
import { upkeepOver } from "./upkeep.ts";

/** The store of an engine: values instead of texts, the usual deadlines, and what takes several operations. */
export function storeOver(executor: Executor, facts: StoreFacts, elapsedNow: () => number): Store {
  const call = callOn(executor);
  return {
    facts,
    records: recordsOver(call, executor.learn),
    documents: documentsOver(call, elapsedNow),
    blobs: blobsOver(call),
    leases: leasesOver(call),
    upkeep: upkeepOver(call, executor.learn),
    counters: executor.counters,
    pendingWrites: executor.pendingWrites,
    close: executor.close,
  };
}

function blobsOver(call: Call): Blobs {
  return {
    put: (bytes, options) => call("putBlob", { bytes }, options),
    get: (sha256, options) => call("getBlob", { sha256 }, options),
  };
}

function leasesOver(call: Call): Leases {
  return {
    acquire: (name, holder, ttlMs, options) =>
      call("acquireLease", { name, holder, ttlSeconds: ttlMs / 1000 }, options),
    renew: (lease, ttlMs, options) => call("renewLease", { lease, ttlSeconds: ttlMs / 1000 }, options),
    release: (lease, options) => call("releaseLease", { lease }, options),
    read: (name, options) => call("readLease", { name }, options),
    list: (options) => call("listLeases", {}, options),
    fidelity: (options) => call("probeLocks", {}, options),
  };
}

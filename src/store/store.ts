import type { JsonObject, JsonValue } from "./json.ts";

/**
 * The durable store: records in streams, documents, blobs and leases of one deployment.
 *
 * No operation throws for what the world does, and none waits longer than its deadline: see `Outcome`. Nothing here knows of
 * files; an implementation over a database has the same promises.
 */
export interface Store {
  readonly records: Records;
  readonly documents: Documents;
  readonly blobs: Blobs;
  readonly leases: Leases;
  readonly upkeep: Upkeep;
  readonly facts: StoreFacts;
  /** What the store has done so far (MET-1); in-memory numbers, read without any I/O. */
  counters(): StoreCounters;
  /** Writes accepted and not yet answered. */
  pendingWrites(): number;
  /** Refuses new operations, lets accepted ones finish for at most `patienceMs`, then ends the store's threads. */
  close(patienceMs: number): Promise<Closed>;
}

export interface Closed {
  /** Accepted operations that were cut short; each has answered "unknown". */
  readonly unfinished: number;
  /**
   * "hung": a thread is stuck in the operating system. The process then ends neither by itself nor by `process.exit`, which
   * wait for it; `exitNow` of platform/ ends it (THR-3).
   */
  readonly threads: "ended" | "hung";
}

/**
 * What became of an operation.
 *
 * "unknown" is no failure: the deadline passed, or the last confirmation did not come, and the operation may have landed or may
 * still land (THR-2). Only reading back tells.
 */
export type Outcome<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly failure: StoreFailure }
  | { readonly kind: "unknown"; readonly because: string };

export interface StoreFailure {
  readonly reason: FailureReason;
  /** For a log line; may name places inside the store, so it is not for users of the HTTP endpoints (V1-3). */
  readonly message: string;
}

export type FailureReason =
  /** The medium answered with an error: full, read-only, denied, gone. */
  | "io"
  /** What is stored cannot be understood, or only by a newer build; nothing was changed (DOC-2, QUA-4). */
  | "unreadable"
  /** Records kept leaving while they were read (ART-4). */
  | "unsettled"
  /** Others kept changing the document for as long as this store tried. */
  | "contended"
  /** Too many operations are waiting (WRT-3). */
  | "overflow"
  /** The value may not be written where other implementations read it (FMT-5). */
  | "not portable"
  | "closed";

/** How long the caller waits; by default 10 s. */
export interface Patience {
  readonly deadlineMs?: number;
}

/** One immutable record. `id` is unique in its stream and tells its place: streams are ordered by it as text. */
export interface StoredRecord {
  readonly id: string;
  /** When it was written, by the writer's wall clock; Infinity when its identity does not tell. */
  readonly writtenAtSeconds: number;
  readonly data: JsonObject;
}

/** Names under a prefix. `complete` is false when some entry could not be named: callers that delete must then do nothing (ENC-6). */
export interface Names {
  readonly names: readonly string[];
  readonly complete: boolean;
}

/** Streams of immutable records. One whose records are all gone may still be named for a while. */
export interface Records {
  /**
   * Adds a record after every record of the stream this store has added or seen, and answers when it is durable. Appends to one
   * stream land in the order of the calls.
   *
   * @param options.keep prunes the stream to about this many newest records (PRU-1): up to 7 more per writing process stay for a
   * while. The prune is never the reason for a failure.
   */
  append(
    stream: string,
    data: JsonObject,
    options?: Patience & { readonly keep?: number },
  ): Promise<Outcome<{ readonly id: string }>>;
  /**
   * Adds a version under the key `data[field]`, keeps the version it replaces and removes the one before (ART-3), so that a reader
   * whose listing overlaps one publication still finds a version.
   */
  publish(
    stream: string,
    field: string,
    data: JsonObject,
    options?: Patience,
  ): Promise<Outcome<{ readonly id: string }>>;
  /**
   * The `limit` newest or oldest readable records, in that direction. A stream nobody wrote is empty.
   *
   * Tolerant: a record that cannot be understood is put aside and skipped, one that cannot be read is skipped this time (QUA-1).
   * Strict: both make the read fail, except damaged ones, which no build will ever read (QUA-2).
   */
  list(stream: string, query: RecordQuery): Promise<Outcome<readonly StoredRecord[]>>;
  /**
   * The newest record per value of the text field `field`, newest first; only of `key` when given (ART-4).
   *
   * Strict as in `list`, and it fails as `unsettled` when records keep leaving while it reads.
   */
  newestByKey(
    stream: string,
    field: string,
    query: Patience & { readonly key?: string; readonly reading: Reading },
  ): Promise<Outcome<readonly StoredRecord[]>>;
  /**
   * The greatest value of a field over all records, null when none has it (DRV-1). Strict. Texts compare by code point, numbers
   * by value; a value that does not compare with the greatest so far is passed over.
   */
  max(stream: string, field: string, options?: Patience): Promise<Outcome<JsonValue>>;
  /** Deletes all but the `keep` newest; 0 deletes all. Answers how many went. */
  prune(stream: string, keep: number, options?: Patience): Promise<Outcome<number>>;
  /** Names of the streams that begin with `prefix`, by code point. */
  streams(prefix: string, options?: Patience): Promise<Outcome<Names>>;
}

export type Reading = "tolerant" | "strict";

export interface RecordQuery extends Patience {
  readonly order: "newest first" | "oldest first";
  readonly limit: number;
  readonly reading: Reading;
}

/** What a document was when it was read. `version` is null when it did not exist. */
export interface DocumentState {
  readonly body: JsonObject | null;
  readonly version: string | null;
}

/** What to do with a document, and what the caller of `mutate` gets when that is done. */
export type Change<T> =
  | { readonly kind: "keep"; readonly answer: T }
  | { readonly kind: "put"; readonly body: JsonObject; readonly answer: T }
  | { readonly kind: "delete"; readonly answer: T };

/** Mutable documents with compare-and-set. */
export interface Documents {
  /** Fails as `unreadable` where `peek` would see nothing. */
  read(namespace: string, key: string, options?: Patience): Promise<Outcome<DocumentState>>;
  /** Best effort: what is absent, damaged or of a newer build is null (DOC-4). */
  peek(namespace: string, key: string, options?: Patience): Promise<Outcome<JsonObject | null>>;
  /**
   * Replaces (or with null deletes) the document if it is still what `version` says, else answers with what it is now. An
   * unreadable document is never replaced.
   */
  swap(
    namespace: string,
    key: string,
    version: string | null,
    body: JsonObject | null,
    options?: Patience,
  ): Promise<Outcome<Swap>>;
  /**
   * Reads, decides, writes, and starts over with the newer document whenever another writer was faster (DOC-2). Calls for one
   * document run one after the other in this process. `decide` must be pure: it may be called several times.
   *
   * @param options `remember`: for a document that mostly one process changes, and often. What it wrote or read last stands for the read that
   *   a change begins with; the newest few documents are remembered.
   */
  mutate<T>(
    namespace: string,
    key: string,
    decide: (body: JsonObject | null) => Change<T>,
    options?: Patience & { readonly remember?: boolean },
  ): Promise<Outcome<T>>;
  /** All readable bodies of a namespace. */
  list(namespace: string, options?: Patience): Promise<Outcome<readonly JsonObject[]>>;
  /** Keys of a namespace; incomplete when a key is too long to be told from its place (ENC-5). */
  keys(namespace: string, options?: Patience): Promise<Outcome<Names>>;
  namespaces(prefix: string, options?: Patience): Promise<Outcome<Names>>;
}

export type Swap =
  | { readonly kind: "swapped"; readonly version: string | null }
  | { readonly kind: "conflict"; readonly current: DocumentState };

/** Payloads addressed by their content, stored once. */
export interface Blobs {
  /** Stores the bytes and answers their SHA-256 in hex. Stored again, they count as new for the sweep (GC-4). */
  put(bytes: Uint8Array, options?: Patience): Promise<Outcome<string>>;
  /** Null when there is no such payload. One whose bytes no longer match their address fails as `unreadable`. */
  get(sha256: string, options?: Patience): Promise<Outcome<Uint8Array | null>>;
}

/** A lease as it stands in the store. `fence` grows by one at every change of holder and never shrinks (LSE-2). */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  readonly fence: number;
  /** Wall clock of the last writer plus its TTL; hosts that share a store need NTP (OPS-3). */
  readonly expiresAtSeconds: number;
}

export type Acquired =
  | { readonly kind: "held"; readonly lease: Lease }
  /** `by` holds it. */
  | { readonly kind: "denied"; readonly by: Lease }
  /** The lease is there and cannot be understood, so nobody gets it (LSE-4). */
  | { readonly kind: "unreadable" };

export type Renewed =
  | { readonly kind: "held"; readonly lease: Lease }
  /** Released, taken over or gone: it is not ours any more. `by` is who has it now, if anybody. */
  | { readonly kind: "lost"; readonly by: Lease | null }
  | { readonly kind: "unreadable" };

/**
 * Claims with a time to live and a monotonic fence. They never wait behind records or documents, and the rate limit does not
 * touch them (RAT-2). Only "held" proves anything: "failed" and "unknown" are no denial (LSE-5).
 */
export interface Leases {
  /** Takes a free, expired or released lease, or extends our own valid one, whose fence then stays. */
  acquire(name: string, holder: string, ttlMs: number, options?: Patience): Promise<Outcome<Acquired>>;
  /** Extends a lease that is still ours by holder and fence; a moment past its expiry is fine. */
  renew(lease: Lease, ttlMs: number, options?: Patience): Promise<Outcome<Renewed>>;
  /** Frees a lease that is ours; another's is left alone. The fence survives. */
  release(lease: Lease, options?: Patience): Promise<Outcome<{ readonly released: boolean }>>;
  /** Who has the lease, expired or not; null when released, absent or unreadable. Without the lock, so no proof. */
  read(name: string, options?: Patience): Promise<Outcome<Lease | null>>;
  /** All unreleased leases that can be read. */
  list(options?: Patience): Promise<Outcome<readonly Lease[]>>;
  /** Whether the store's locks keep processes apart at all (TOP-6). */
  fidelity(options?: Patience): Promise<Outcome<LockFidelity>>;
}

export type LockFidelity =
  | { readonly kind: "exclusive" }
  /** The probe could not run, which proves nothing. */
  | { readonly kind: "unproven"; readonly because: string }
  /** Locks do not reach other hosts, or do not exclude even here. */
  | { readonly kind: "unreliable"; readonly because: string };

/** What garbage collection asks of the store. With `dryRun` nothing changes and the same is counted. */
export interface Upkeep {
  /** Deletes a whole stream if its newest record is older; a stream of unknown age stays. */
  collectStream(stream: string, writtenBeforeSeconds: number, dryRun: boolean): Promise<Outcome<Collected>>;
  /** Deletes documents whose number `field` is older, in namespaces with this prefix. Documents without it stay. */
  collectDocuments(
    namespacePrefix: string,
    field: string,
    beforeSeconds: number,
    dryRun: boolean,
  ): Promise<Outcome<number>>;
  /** Deletes leases with this prefix whose expiry and last write are both older (LSE-3). */
  collectLeases(prefix: string, beforeSeconds: number, dryRun: boolean): Promise<Outcome<number>>;
  /** Deletes payloads that are not `referenced` and were last stored before. */
  collectBlobs(referenced: ReadonlySet<string>, storedBeforeSeconds: number, dryRun: boolean): Promise<Outcome<number>>;
  /** Deletes what only the store itself knows of: leftovers of crashed writes, records put aside, idle locks (GC-5, GC-6). */
  tidy(cutoffs: TidyCutoffs, dryRun: boolean): Promise<Outcome<Tidied>>;
  inventory(options?: Patience): Promise<Outcome<Inventory>>;
}

export type Collected =
  | { readonly kind: "collected"; readonly records: number }
  | { readonly kind: "kept"; readonly because: "recent" | "absent" };

export interface TidyCutoffs {
  readonly temporariesBeforeSeconds: number;
  readonly quarantinedBeforeSeconds: number;
  readonly locksBeforeSeconds: number;
}

export interface Tidied {
  readonly temporaries: number;
  readonly quarantined: number;
  readonly locks: number;
}

/** What is there, by name and number (INS-1). */
export interface Inventory {
  readonly streams: readonly { readonly name: string; readonly records: number }[];
  readonly namespaces: readonly { readonly name: string; readonly documents: number }[];
  /** What is in streams and namespaces whose names cannot be told. */
  readonly unnamed: { readonly streams: number; readonly records: number; readonly namespaces: number };
  readonly quarantined: number;
}

/** Constant for the life of a store. */
export interface StoreFacts {
  readonly backend: "filesystem" | "memory";
  /** Where it is, for people. */
  readonly location: string;
  readonly namespace: string;
  readonly topology: "single-node" | "shared";
  /** Whether other hosts' locks are seen here. */
  readonly sharedLocking: boolean;
}

/** Operation labels of the metrics (MET-3). */
export type OperationLabel =
  | "start"
  | "append"
  | "list"
  | "list-stream-names"
  | "derive-max"
  | "prune"
  | "doc-read"
  | "doc-mutate"
  | "doc-list"
  | "blob-put"
  | "blob-get"
  | "blob-sweep"
  | "lease-acquire"
  | "lease-renew"
  | "lease-release"
  | "lease-read"
  | "lock-probe"
  | "gc"
  | "inventory";

export interface OperationCount {
  readonly finished: number;
  readonly errors: number;
  /** Inside the store, waiting not counted. */
  readonly seconds: number;
}

export interface LaneLoad {
  readonly inflight: number;
  readonly capacity: number;
  readonly peak: number;
}

export interface StoreCounters {
  readonly operations: Readonly<Partial<Record<OperationLabel, OperationCount>>>;
  readonly lockAcquisitions: number;
  readonly lockWaitSeconds: number;
  readonly throttledOperations: number;
  readonly throttleWaitSeconds: number;
  /** Writes refused because too many were waiting; the `overflow` kind of the dropped writes (WRT-3). */
  readonly shedWrites: number;
  readonly lanes: { readonly bulk: LaneLoad; readonly lease: LaneLoad };
}

import type {
  Acquired,
  Collected,
  FailureReason,
  Inventory,
  Lease,
  LockFidelity,
  Names,
  OperationLabel,
  Reading,
  Renewed,
  StoreFacts,
  Tidied,
  TidyCutoffs,
} from "./store.ts";

/** A record as text: its whole envelope. */
export interface Row {
  readonly id: string;
  readonly text: string;
}

/** A document as text, or null. Equal versions mean equal texts. */
export interface DocumentText {
  readonly text: string | null;
  readonly version: string | null;
}

export type SwappedText =
  | { readonly swapped: true; readonly version: string | null }
  /** Another one was there. */
  | { readonly swapped: false; readonly current: DocumentText };

/**
 * What a store does, as plain synchronous functions on texts and bytes. The asynchronous store is this plus a way to call it:
 * worker threads for the file system, a function call for memory.
 *
 * All arguments and results survive a message between threads. The world's faults are thrown: `StoreFault`, or an error of the
 * system.
 */
export interface Engine {
  start(args: { readonly topology: "auto" | "single-node" | "shared" }): StoreFacts;
  append(args: { readonly stream: string; readonly text: string; readonly keep: number | null }): {
    readonly id: string;
  };
  publish(args: { readonly stream: string; readonly field: string; readonly key: string; readonly text: string }): {
    readonly id: string;
  };
  listRecords(args: {
    readonly stream: string;
    readonly newestFirst: boolean;
    readonly limit: number;
    readonly reading: Reading;
  }): readonly Row[];
  newestByKey(args: {
    readonly stream: string;
    readonly field: string;
    readonly key: string | null;
    readonly reading: Reading;
  }): { readonly rows: readonly Row[]; readonly highestId: string | null };
  /** The value's JSON text, or null. */
  maxOfField(args: { readonly stream: string; readonly field: string }): string | null;
  prune(args: { readonly stream: string; readonly keep: number }): number;
  streamNames(args: { readonly prefix: string }): Names;
  readDocument(args: { readonly namespace: string; readonly key: string }): DocumentText;
  peekDocument(args: { readonly namespace: string; readonly key: string }): string | null;
  swapDocument(args: {
    readonly namespace: string;
    readonly key: string;
    readonly version: string | null;
    readonly text: string | null;
  }): SwappedText;
  listDocuments(args: { readonly namespace: string }): readonly string[];
  documentKeys(args: { readonly namespace: string }): Names;
  namespaceNames(args: { readonly prefix: string }): Names;
  putBlob(args: { readonly bytes: Uint8Array }): string;
  getBlob(args: { readonly sha256: string }): Uint8Array | null;
  acquireLease(args: { readonly name: string; readonly holder: string; readonly ttlSeconds: number }): Acquired;
  renewLease(args: { readonly lease: Lease; readonly ttlSeconds: number }): Renewed;
  releaseLease(args: { readonly lease: Lease }): { readonly released: boolean };
  readLease(args: { readonly name: string }): Lease | null;
  listLeases(args: Record<never, never>): readonly Lease[];
  probeLocks(args: Record<never, never>): LockFidelity;
  collectStream(args: { readonly stream: string; readonly beforeSeconds: number; readonly dryRun: boolean }): Collected;
  collectDocuments(args: {
    readonly namespace: string;
    readonly field: string;
    readonly beforeSeconds: number;
    readonly dryRun: boolean;
  }): number;
  collectLeases(args: { readonly prefix: string; readonly beforeSeconds: number; readonly dryRun: boolean }): number;
  /** One of the 256 parts blobs are kept in, by the first byte of their address. */
  collectBlobs(args: {
    readonly shard: string;
    readonly referenced: readonly string[];
    readonly beforeSeconds: number;
    readonly dryRun: boolean;
  }): number;
  tidy(args: { readonly cutoffs: TidyCutoffs; readonly dryRun: boolean }): Tidied;
  inventory(args: Record<never, never>): Inventory;
  /** Tells an engine what a sibling over the same store has learnt, so that it neither repeats nor contradicts it. */
  learn(args: Lesson): void;
}

export type Lesson =
  /** A record of this name exists; later ones are named above it (ART-6). */
  | { readonly kind: "seen"; readonly stream: string; readonly id: string }
  /** This process published this version (ART-5). */
  | { readonly kind: "published"; readonly stream: string; readonly key: string; readonly id: string }
  /** The stream was emptied; nothing remembered of it holds. */
  | { readonly kind: "emptied"; readonly stream: string };

export type Operation = Exclude<keyof Engine, "learn">;
export type ArgumentsOf<K extends Operation> = Parameters<Engine[K]>[0];
export type ResultOf<K extends Operation> = ReturnType<Engine[K]>;

/** How an operation is treated while it waits. */
export interface OperationTraits {
  readonly label: OperationLabel;
  /** Operations of one lane run one after the other; lanes never wait for each other. */
  readonly lane: Lane;
  /** Within its lane: first come first served among equals. Records are never urgent, so that their order is the callers'. */
  readonly rank: "urgent" | "usual" | "idle";
  /** Whether it may still begin when its caller has stopped waiting (THR-2): a record should land, a claim must not. */
  readonly afterDeadline: "run" | "drop";
}

export type Lane = "write" | "read" | "lease";

const write = { lane: "write", rank: "usual", afterDeadline: "run" } as const;
const urgentWrite = { lane: "write", rank: "urgent", afterDeadline: "drop" } as const;
const sweep = { lane: "write", rank: "idle", afterDeadline: "drop" } as const;
const read = { lane: "read", rank: "usual", afterDeadline: "drop" } as const;
const lease = { lane: "lease", rank: "usual", afterDeadline: "drop" } as const;

export const operationTraits: Readonly<Record<Operation, OperationTraits>> = {
  start: { ...urgentWrite, label: "start" },
  append: { ...write, label: "append" },
  publish: { ...write, label: "append" },
  listRecords: { ...read, label: "list" },
  newestByKey: { ...read, label: "list" },
  maxOfField: { ...read, label: "derive-max" },
  prune: { ...write, label: "prune" },
  streamNames: { ...read, label: "list-stream-names" },
  readDocument: { ...read, label: "doc-read" },
  peekDocument: { ...read, label: "doc-read" },
  swapDocument: { ...urgentWrite, label: "doc-mutate" },
  listDocuments: { ...read, label: "doc-list" },
  documentKeys: { ...read, label: "doc-list" },
  namespaceNames: { ...read, label: "doc-list" },
  putBlob: { ...urgentWrite, label: "blob-put" },
  getBlob: { ...read, label: "blob-get" },
  acquireLease: { ...lease, label: "lease-acquire" },
  renewLease: { ...lease, label: "lease-renew" },
  releaseLease: { ...lease, afterDeadline: "run", label: "lease-release" },
  readLease: { ...lease, label: "lease-read" },
  listLeases: { ...read, label: "lease-read" },
  probeLocks: { ...lease, label: "lock-probe" },
  collectStream: { ...sweep, label: "gc" },
  collectDocuments: { ...sweep, label: "gc" },
  collectLeases: { ...sweep, label: "gc" },
  collectBlobs: { ...sweep, label: "blob-sweep" },
  tidy: { ...sweep, label: "gc" },
  inventory: { ...read, label: "inventory" },
};

/** Operations with equal keys take the same lock, so while one waits for it the later ones queue up behind. Null: takes none. */
export function lockKey<K extends Operation>(operation: K, args: ArgumentsOf<K>): string | null {
  if ("lease" in args) return args.lease.name;
  if ("holder" in args) return args.name;
  return operation === "swapDocument" && "key" in args && "namespace" in args ? `${args.namespace}\0${args.key}` : null;
}

/** Something of the world is not as an operation needs it. */
export class StoreFault extends Error {
  readonly reason: Exclude<FailureReason, "overflow" | "closed">;
  constructor(reason: StoreFault["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The change is in place and its last confirmation failed: it may or may not survive a power cut. */
export class Unconfirmed extends Error {}

/** Somebody else holds the lock the operation needs; it had no effect and is to be tried again. */
export class LockBusy extends Error {}

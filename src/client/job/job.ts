/**
 * The job API for jobs written in JavaScript or TypeScript: `import { kv, cursor, lock } from "cronstable/job"`.
 *
 * Each call is one request to the daemon that runs this job, whose address and token are in the environment. A call that does not
 * succeed throws a `JobApiError`; that something is not there is an answer, not an error.
 */
import * as calls from "./calls.ts";
import { type Endpoint, endpointFrom } from "./endpoint.ts";
import { fromPlain, toPlain } from "./plain-values.ts";
import { taskKeyOf, xcomName, xcomPlace } from "./xcom-place.ts";

// biome-ignore lint/performance/noBarrelFile: this is the package's public face
export { JobApiError, type JobApiFailure } from "./job-api-error.ts";

/** Where a call acts: by default in the scope of its own job, which no other job can touch. */
export interface InScope {
  /** `"global"` is open to all jobs; any other must be in the job's `stateAllowedScopes`. */
  readonly scope?: string | undefined;
}

function here(): Endpoint {
  return endpointFrom(process.env);
}

function scopeOf(options: InScope | undefined): calls.Scope {
  return options?.scope ?? null;
}

/** A map that survives restarts. Values are JSON; whole numbers beyond 2^53 are bigints. */
export const kv = {
  /** Undefined when the key is not set. */
  async get<T = unknown>(key: string, options?: InScope): Promise<T | undefined> {
    const value = await calls.kvGet(here(), scopeOf(options), key);
    return value === undefined ? undefined : (toPlain(value) as T);
  },
  async set(key: string, value: unknown, options?: InScope): Promise<void> {
    await calls.kvSet(here(), scopeOf(options), key, fromPlain(value));
  },
  /** Whether the key was set. */
  async delete(key: string, options?: InScope): Promise<boolean> {
    return calls.kvDelete(here(), scopeOf(options), key);
  },
  /** Sorted. */
  async keys(options?: InScope): Promise<readonly string[]> {
    return (await calls.kvList(here(), scopeOf(options))).map(({ key }) => String(key));
  },
  async entries<T = unknown>(options?: InScope): Promise<ReadonlyMap<string, T>> {
    const listed = await calls.kvList(here(), scopeOf(options));
    return new Map(listed.map(({ key, value = null }) => [String(key), toPlain(value) as T]));
  },
};

/** Watermarks: what has been processed up to. A cursor never moves backwards. */
export const cursor = {
  /** Undefined when the cursor is not set. */
  async get<T = unknown>(name: string, options?: InScope): Promise<T | undefined> {
    const value = await calls.cursorGet(here(), scopeOf(options), name);
    return value === undefined ? undefined : (toPlain(value) as T);
  },
  /**
   * Moves the cursor to `value` if that is further: numbers by value, texts by code point.
   *
   * @param options.force sets it even backwards
   * @returns where it is now
   */
  async advance<T>(
    name: string,
    value: T,
    options?: InScope & { readonly force?: boolean },
  ): Promise<{ readonly value: T; readonly advanced: boolean }> {
    const answer = await calls.cursorAdvance(here(), scopeOf(options), name, fromPlain(value), options?.force === true);
    return { value: toPlain(answer.value) as T, advanced: answer.advanced };
  },
};

/** Keys that are won once in the whole fleet. */
export const idempotency = {
  /**
   * True for the first claim of a key, which then does the work.
   *
   * @param options.ttlSeconds how long the claim holds; by default for ever
   */
  async claim(key: string, options?: InScope & { readonly ttlSeconds?: number }): Promise<boolean> {
    return calls.claim(here(), scopeOf(options), key, options?.ttlSeconds ?? 0);
  },
  /** Whether there was a claim to release. */
  async release(key: string, options?: InScope): Promise<boolean> {
    return calls.releaseClaim(here(), scopeOf(options), key);
  },
};

export interface LockOptions extends InScope {
  /** Holders there may be at once, 1 to 1024; 1 is a mutex. */
  readonly permits?: number;
  /** How long to wait for a free permit; by default not at all. */
  readonly waitSeconds?: number;
  /** How long the lock outlives a daemon that dies; 5 at least. By default as the daemon is configured. */
  readonly ttlSeconds?: number;
}

/** A lock in hand. The daemon renews it until it is released or the run ends. */
export interface Lock {
  /** Grows with every new holder: for what the lock protects, so that it can refuse a holder that lost its lock. */
  readonly fence: number;
  /** Whether it was still held. */
  release(): Promise<boolean>;
}

/** Mutexes and semaphores across the fleet. */
export const lock = {
  /** Null when all permits are taken. */
  async acquire(name: string, options?: LockOptions): Promise<Lock | null> {
    const endpoint = here();
    const { permits = 1, waitSeconds = 0, ttlSeconds = null } = options ?? {};
    const request = { permits, wait: waitSeconds > 0, blockSeconds: waitSeconds, ttlSeconds };
    const held = await calls.lockAcquire(endpoint, scopeOf(options), name, request);
    if (held === null) return null;
    return { fence: held.fence, release: () => calls.lockRelease(endpoint, held.token) };
  },
  /**
   * Runs `work` while holding the lock, which is released however it ends.
   *
   * @returns null when the lock was not to be had and nothing was done
   */
  async run<T>(
    name: string,
    work: (lock: Lock) => Promise<T> | T,
    options?: LockOptions,
  ): Promise<{ readonly result: T } | null> {
    const held = await lock.acquire(name, options);
    if (held === null) return null;
    try {
      return { result: await work(held) };
    } finally {
      await held.release();
    }
  },
};

export interface ArtifactInfo {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  readonly publishedAt: Date;
}

/** Payloads for a later run or another node. The newest under a name wins. */
export const artifact = {
  /** @returns the SHA-256 of the content, in hex */
  async put(name: string, content: string | Uint8Array, options?: InScope): Promise<string> {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    return calls.artifactPut(here(), scopeOf(options), name, { content: bytes, bytes: bytes.length });
  },
  /** Undefined when nothing was published under the name. */
  async get(name: string, options?: InScope): Promise<Uint8Array | undefined> {
    return calls.artifactGet(here(), scopeOf(options), name);
  },
  /** The newest of each name, sorted by name. */
  async list(options?: InScope): Promise<readonly ArtifactInfo[]> {
    const listed = await calls.artifactList(here(), scopeOf(options));
    return listed.map(({ name, sha256, size, at = null }) => ({
      name: String(name),
      sha256: String(sha256),
      size: Number(size),
      publishedAt: new Date(Number(toPlain(at)) * 1000),
    }));
  },
};

/** What the job's `secrets` block stages for this run alone. */
export const secret = {
  /** Undefined when it is not staged. */
  async get(name: string): Promise<string | undefined> {
    return calls.secretGet(here(), name);
  },
  async list(): Promise<readonly string[]> {
    return calls.secretList(here());
  },
};

/** Data between the tasks of one workflow run. */
export const xcom = {
  /** Publishes under a key of this task. @returns the SHA-256 of the content, in hex */
  async push(key: string, content: string | Uint8Array): Promise<string> {
    const { scope, taskKey } = xcomPlace(process.env);
    return artifact.put(xcomName(taskKey, key), content, { scope });
  },
  /**
   * What a task of this run has pushed; undefined when it has not.
   *
   * @param options.mapIndex instance of a mapped task
   */
  async pull(task: string, key: string, options?: { readonly mapIndex?: number }): Promise<Uint8Array | undefined> {
    const { scope } = xcomPlace(process.env);
    return artifact.get(xcomName(taskKeyOf(task, options?.mapIndex), key), { scope });
  },
  /** `task/key` of all that was pushed in this run, sorted. */
  async list(): Promise<readonly string[]> {
    const { scope } = xcomPlace(process.env);
    return (await artifact.list({ scope })).map(({ name }) => name);
  },
};

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { RunId } from "../contract/run.ts";
import type { EpochMs } from "../platform/clock.ts";
import { createLatch, type Latch, type TrippableLatch } from "./latch.ts";

/** What the endpoint knows of a run, and what the run may do. */
export interface RunFacts {
  readonly runId: RunId;
  /** Name of the job, or `<dag>.<task>`. */
  readonly job: string;
  /** 0 for a first run, else the number of the retry. */
  readonly attempt: number;
  /** The job's latest slot; null when none has fired yet, and for DAG tasks. */
  readonly scheduledAt: EpochMs | null;
  /** Where a request acts that names no scope. */
  readonly defaultScope: string;
  readonly allowedScopes: ReadonlySet<string>;
}

export interface RunSession extends RunFacts {
  readonly ended: Latch;
  /** Values by name; empty once the run has ended (SEC-1). */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Live runs by their tokens. A token is known to its run alone: here lives only its digest. */
export interface RunSessions {
  /** Makes the run's token, 64 hex digits, valid from now on. */
  open(run: RunFacts): { readonly session: RunSession; readonly token: string };
  /** Puts a secret where its run finds it; nothing once the run has ended. */
  stage(runId: RunId, name: string, value: string): void;
  /** The live run that an Authorization header names; null for any other header, without telling in what it is wrong (V1-1). */
  authorized(headers: readonly string[] | undefined): RunSession | null;
  /** Ends the run's token and drops its secrets; harmless when done before. */
  end(runId: RunId): void;
  endAll(): void;
}

interface Entry {
  readonly session: RunSession;
  readonly digest: Buffer;
  readonly ended: TrippableLatch;
  readonly secrets: Map<string, string>;
}

const BEARER = /^bearer ([0-9a-f]{64})$/i;

export function createRunSessions(): RunSessions {
  const byRun = new Map<RunId, Entry>();
  const byDigest = new Map<string, Entry>();

  const end = (runId: RunId): void => {
    const entry = byRun.get(runId);
    if (entry === undefined) return;
    byRun.delete(runId);
    byDigest.delete(entry.digest.toString("hex"));
    entry.secrets.clear();
    entry.ended.trip();
  };

  return {
    open(run) {
      if (byRun.has(run.runId)) throw new Error(`run ${run.runId} is registered already`);
      const token = randomBytes(32).toString("hex");
      const ended = createLatch();
      const secrets = new Map<string, string>();
      const entry: Entry = { session: { ...run, ended, secrets }, digest: digestOf(token), ended, secrets };
      byRun.set(run.runId, entry);
      byDigest.set(entry.digest.toString("hex"), entry);
      return { session: entry.session, token };
    },
    stage(runId, name, value) {
      byRun.get(runId)?.secrets.set(name, value);
    },
    authorized(headers) {
      const token = headers?.length === 1 ? BEARER.exec(headers[0] ?? "")?.[1] : undefined;
      if (token === undefined) return null;
      // Found by digest: how far a guess agrees with a token shows neither in the search nor in the comparison.
      const digest = digestOf(token);
      const entry = byDigest.get(digest.toString("hex"));
      return entry !== undefined && timingSafeEqual(entry.digest, digest) ? entry.session : null;
    },
    end,
    endAll() {
      for (const runId of [...byRun.keys()]) end(runId);
    },
  };
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

import type { JobConfig, StateConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { RunId } from "../contract/run.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import type { Store } from "../store/store.ts";
import { artifactRoutes } from "./artifacts.ts";
import { cursorRoutes } from "./cursors.ts";
import { idempotencyRoutes } from "./idempotency.ts";
import { kvRoutes } from "./kv.ts";
import { createLatch } from "./latch.ts";
import {
  ANSWER_PATIENCE_MS,
  ESCAPED_BYTES_PER_BYTE,
  REQUEST_OVERHEAD_BYTES,
  START_PATIENCE_MS,
  STOP_PATIENCE_MS,
} from "./limits.ts";
import { type Listener, openListener } from "./listener.ts";
import { createLockKeeper } from "./lock-keeper.ts";
import { lockRoutes } from "./locks.ts";
import { ownRunRoutes } from "./own-run.ts";
import { patiently } from "./patiently.ts";
import { createBodyReader } from "./request-body.ts";
import { runEnvironment } from "./run-environment.ts";
import { createRunSessions } from "./run-sessions.ts";
import { requestServer } from "./serve-request.ts";
import { type MissingSecret, type ResolveSecret, stageSecrets } from "./staged-secrets.ts";
import { storeTrouble } from "./store-trouble.ts";

export interface JobApiOptions {
  readonly store: Pick<Store, "documents" | "records" | "blobs" | "leases">;
  /** Of a configuration whose job API is enabled. */
  readonly config: StateConfig["jobApi"];
  readonly clock: Clock;
  readonly log: Logger;
  /** Name of this host, as the store knows it. */
  readonly host: string;
  /** 12 hex digits of this process. */
  readonly procId: string;
  readonly resolveSecret: ResolveSecret;
}

/** A run about to be launched. */
export interface RunToRegister {
  readonly runId: RunId;
  /** Its name, secrets and scopes are used. */
  readonly job: JobConfig;
  readonly attempt: number;
  readonly scheduledAt: EpochMs | null;
  /** Where it acts when it names no scope, by default under the job's name; for a DAG task its run's XCom (SCO-2). */
  readonly defaultScope?: string;
}

export interface Registration {
  /** Set over the job's own variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Secrets that could not be read; logged, and absent for the run (SEC-2). */
  readonly missingSecrets: readonly MissingSecret[];
}

/** The store in the hands of running jobs: an HTTP endpoint that knows each by its token (JAP-1). */
export interface JobApi {
  /** What jobs connect to: `http://127.0.0.1:42119`. */
  readonly url: string;
  /**
   * Lets a run in, before its launch: makes its token and reads its secrets anew. Never rejects for what the world does, and takes 10 s
   * at most; without secrets it needs nothing of the world. The store is not asked.
   */
  register(run: RunToRegister): Promise<Registration>;
  /**
   * Ends what a run may do, however it ended: its token is dead and its secrets are gone at once, its waiting acquires are answered.
   * Resolves when the store has been told to free its locks, which is bounded; need not be awaited. Harmless for a run that is unknown.
   */
  release(runId: RunId): Promise<void>;
  /** Ends every run's token, frees all locks and closes the port; bounded. */
  stop(): Promise<void>;
}

/** Starts the endpoint. Null, and one line in the log, when the port cannot be had: jobs then run without it (JAP-4). */
export async function startJobApi(options: JobApiOptions): Promise<JobApi | null> {
  const { store, config, clock, log, host, procId, resolveSecret } = options;
  const stopped = createLatch();
  const sessions = createRunSessions();
  const trouble = storeTrouble(clock, log);
  const keeper = createLockKeeper({
    leases: store.leases,
    clock,
    log,
    stopped,
    trouble,
    host,
    procId,
    pollMs: Math.min(1, Math.max(0.05, config.lockTtlSeconds / 10)) * 1000, // LOK-4
  });
  const parts = { store, trouble, clock, valueBytesMax: config.maxValueBytes };
  const requests = requestServer({
    sessions,
    log,
    bodies: createBodyReader(requestBytesMax(config)),
    routes: {
      ...ownRunRoutes(host),
      ...kvRoutes(parts),
      ...cursorRoutes(parts),
      ...idempotencyRoutes(parts),
      ...artifactRoutes({ ...parts, artifactBytesMax: config.maxArtifactBytes }),
      ...lockRoutes(keeper, config.lockTtlSeconds),
    },
  });

  const opening = openListener({ config, serve: requests.serve, clock, log });
  const opened = await patiently(clock, START_PATIENCE_MS, opening);
  if (opened.kind !== "done") {
    // A port that opens after all is not left open.
    void opening.then(
      (listener) => {
        listener.close();
        listener.destroy();
      },
      () => undefined,
    );
    log.error(`state: job API failed to start (jobs will run without the loopback state endpoint): ${opened.because}`);
    return null;
  }
  const listener: Listener = opened.value;
  const address = { url: listener.url, caFile: config.tls?.ca ?? null };
  log.info(`state job API listening on ${listener.url}`);

  return {
    url: listener.url,
    async register({ runId, job, attempt, scheduledAt, defaultScope = job.name }) {
      const { secrets, stateAllowedScopes } = job.launch;
      const { session, token } = sessions.open({
        runId,
        job: job.name,
        attempt,
        scheduledAt,
        defaultScope,
        allowedScopes: new Set(stateAllowedScopes),
      });
      const stage = (name: string, value: string) => sessions.stage(runId, name, value);
      const missingSecrets = secrets.length === 0 ? [] : await stageSecrets(secrets, resolveSecret, stage, clock);
      for (const { name, problem } of missingSecrets)
        log.warning(`Job ${job.name}: secret '${name}' is not staged for this run: ${problem}`);
      return { environment: runEnvironment(address, token, host, session), missingSecrets };
    },
    release(runId) {
      sessions.end(runId);
      return keeper.releaseRun(runId);
    },
    async stop() {
      listener.close();
      sessions.endAll();
      await patiently(clock, STOP_PATIENCE_MS, keeper.releaseAll());
      await patiently(clock, ANSWER_PATIENCE_MS, requests.drained());
      stopped.trip();
      listener.destroy();
    },
  };
}

/** V1-4. Null when either limit is off. */
function requestBytesMax({ maxArtifactBytes, maxValueBytes }: StateConfig["jobApi"]): number | null {
  if (maxArtifactBytes === 0 || maxValueBytes === 0) return null;
  return Math.max(maxArtifactBytes, ESCAPED_BYTES_PER_BYTE * maxValueBytes) + REQUEST_OVERHEAD_BYTES;
}

import type { Config } from "../../config/model.ts";
import type { Clock } from "../../platform/clock.ts";
import { type Backend, onBackend } from "../backend.ts";
import { MANIFEST_EVERY_MS, MANIFEST_RETRY_MS } from "../limits.ts";
import { keep, manifestsStream } from "../streams.ts";
import type { WriteQueue } from "../write-queue.ts";
import { manifestRecord } from "./manifest-record.ts";

/** What a configuration keeps alive in the store. */
export interface Configured {
  readonly jobSetId: string;
  readonly jobs: readonly string[];
  readonly scopes: readonly string[];
  readonly dags: readonly string[];
}

/** Tells the other nodes and the collector what this one is configured for (GC-1). */
export interface Manifests {
  /** A backend has come up: a manifest is due. */
  due(): void;
  /** For each minute: writes one when it is due, six hours after the last that landed. */
  minute(configured: () => Configured): Promise<void>;
}

/** Jobs and DAGs of a configuration, and the scopes its runs may write to besides their own: `global` and what they are allowed. */
export function configuredBy(config: Config, jobSetId: string): Configured {
  const tasks = config.dags.flatMap((dag) => dag.tasks.flatMap(({ job }) => (job === null ? [] : [job])));
  const allowed = [...config.jobs, ...tasks].flatMap(({ launch }) => launch.stateAllowedScopes);
  return {
    jobSetId,
    jobs: config.jobs.map(({ name }) => name),
    scopes: ["global", ...allowed],
    dags: config.dags.map(({ name }) => name),
  };
}

export function createManifests(parts: {
  readonly host: string;
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly clock: Clock;
}): Manifests {
  const { host, backend, writes, clock } = parts;
  const stream = manifestsStream(host);
  let dueAt = 0;
  return {
    due() {
      dueAt = 0;
    },
    async minute(configured) {
      if (backend() === null || clock.elapsedNow() < dueAt || writes.busy(stream)) return;
      dueAt = clock.elapsedNow() + MANIFEST_RETRY_MS;
      const body = manifestRecord.encode({ ...configured(), host, at: clock.wallNow() });
      const written = await writes.add(stream, "manifest", host, () =>
        onBackend(backend, ({ records }) => records.append(stream, body, { keep: keep.manifests })),
      );
      if (written.kind === "done") dueAt = clock.elapsedNow() + MANIFEST_EVERY_MS;
    },
  };
}

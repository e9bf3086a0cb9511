/**
 * What garbage collection may delete (state 17). Everything here is biased to keep:
 *   G1. Nothing goes before the manifests span a whole grace window: before that, absence proves nothing (GC-8).
 *   G2. What any recent manifest names stays, whatever its age, and so does what this node is configured for (GC-2, GC-9).
 *   G3. Artifacts and DAG checkpoints are nobody's to judge until every recent manifest tells its scopes and DAGs (GC-4).
 *   G4. Streams of no family the scheduler knows stay, and so does `meta` (GC-7).
 */
import type { EpochMs } from "../../platform/clock.ts";
import type { Manifest } from "./manifest-record.ts";
import type { Configured } from "./manifests.ts";

/** What is kept alive by somebody. Null sets cannot be told (G3). */
export interface KeepSets {
  readonly jobs: ReadonlySet<string>;
  readonly hosts: ReadonlySet<string>;
  readonly scopes: ReadonlySet<string> | null;
  readonly dags: ReadonlySet<string> | null;
}

export type Plan = { readonly kind: "deferred" } | { readonly kind: "collect"; readonly keep: KeepSets };

/** @param manifests every one that is retained, of every host */
export function planCollection(
  manifests: readonly Manifest[],
  own: Configured & { readonly host: string },
  now: EpochMs,
  graceMs: number,
): Plan {
  const oldest = Math.min(...manifests.map(({ at }) => at ?? Number.POSITIVE_INFINITY));
  if (!(now - oldest >= graceMs)) return { kind: "deferred" }; // G1; without any manifest nothing is old
  // One that does not tell its age counts as recent: it keeps more.
  const recent = manifests.filter(({ at }) => at === null || now - at <= graceMs);
  const tells = recent.every(({ scopes, dags }) => scopes !== null && dags !== null); // G3
  const jobs = new Set([...own.jobs, ...recent.flatMap((manifest) => manifest.jobs)]);
  return {
    kind: "collect",
    keep: {
      jobs,
      hosts: new Set([own.host, ...recent.flatMap(({ host }) => host ?? [])]),
      scopes: tells ? new Set([...own.scopes, ...jobs, ...recent.flatMap(({ scopes }) => scopes ?? [])]) : null,
      dags: tells ? new Set([...own.dags, ...recent.flatMap(({ dags }) => dags ?? [])]) : null,
    },
  };
}

/** Facts about single streams that manifests do not hold. */
export interface StreamFacts {
  /** Jobs whose newest pause is in force, or cannot be read. */
  readonly pausedJobs: ReadonlySet<string>;
  /** `dagxcom/<dag>/<runId>` of every run document that stays; null when they cannot all be told (G3). */
  readonly runScopes: ReadonlySet<string> | null;
}

/** Whether a stream goes once its newest record is older than the grace. */
export function isOrphan(stream: string, keep: KeepSets, facts: StreamFacts): boolean {
  const slash = stream.indexOf("/");
  if (slash < 0) return false; // G4
  const name = stream.slice(slash + 1);
  switch (stream.slice(0, slash)) {
    case "runs":
    case "logs":
    case "catchup":
    case "retries":
    case "reboot":
    case "inflight":
    case "slots":
    case "missed":
      return !keep.jobs.has(name); // G2
    case "paused":
      return !facts.pausedJobs.has(name);
    case "counters":
    case "manifests":
      return !keep.hosts.has(name);
    case "catchup-dag":
      return keep.dags !== null && !keep.dags.has(name);
    case "artifacts":
      return keep.scopes !== null && facts.runScopes !== null && !keep.scopes.has(name) && !facts.runScopes.has(name);
    default:
      return false; // G4
  }
}

/** Whether a run document goes with its DAG: terminal, of a DAG nobody has any more, and untouched for a whole grace (GC-3). */
export function isOrphanRun(
  run: { readonly state: unknown; readonly updatedAtSeconds: number | null; readonly owned: boolean },
  dag: string,
  keep: KeepSets,
  beforeSeconds: number,
): boolean {
  if (keep.dags === null || keep.dags.has(dag) || run.owned) return false;
  if (run.state !== "success" && run.state !== "failed") return false;
  return run.updatedAtSeconds !== null && run.updatedAtSeconds < beforeSeconds;
}

import { instantSeconds } from "../instant.ts";
import { isArray, type JsonObject, type JsonValue } from "../json.ts";

/** What one configuration uses: this node's own, or what a peer's manifest says of its. */
export interface Uses {
  readonly host: string;
  readonly jobs: readonly string[];
  /** Shared artifact scopes, `global` among them. Null in manifests of builds that did not say. */
  readonly scopes: readonly string[] | null;
  readonly dags: readonly string[] | null;
}

/** A node's record of what its loaded configuration uses (state 17). `atSeconds` is null when the record does not tell. */
export interface Manifest extends Uses {
  readonly atSeconds: number | null;
}

export function manifestOf(data: JsonObject): Manifest {
  const { at, host } = data;
  return {
    atSeconds: typeof at === "string" ? instantSeconds(at) : null,
    host: typeof host === "string" ? host : "",
    jobs: texts(data.jobs) ?? [],
    scopes: texts(data.scopes),
    dags: texts(data.dags),
  };
}

function texts(value: JsonValue | undefined): readonly string[] | null {
  return value !== undefined && isArray(value) ? value.filter((item) => typeof item === "string") : null;
}

/** What must stay. Null scopes or dags: nothing of that kind may be judged yet. */
export interface Keep {
  readonly jobs: ReadonlySet<string>;
  readonly hosts: ReadonlySet<string>;
  readonly scopes: ReadonlySet<string> | null;
  readonly dags: ReadonlySet<string> | null;
}

/**
 * What this node and every manifest not older than the grace use; null while the manifests do not reach back one whole grace, so
 * that absence from them proves nothing (GC-8).
 */
export function whatToKeep(
  own: Uses,
  manifests: readonly Manifest[],
  graceSeconds: number,
  nowSeconds: number,
): Keep | null {
  const instants = manifests.map(({ atSeconds }) => atSeconds);
  const cutoff = nowSeconds - graceSeconds;
  if (instants.length === 0 || instants.includes(null) || Math.min(...instants.map(Number)) > cutoff) return null;
  const recent: readonly Uses[] = [own, ...manifests.filter(({ atSeconds }) => Number(atSeconds) >= cutoff)];
  // GC-4: one node that does not say what it uses keeps all of that kind.
  const sayAll = recent.every(({ scopes, dags }) => scopes !== null && dags !== null);
  const jobs = new Set(recent.flatMap((uses) => uses.jobs));
  return {
    jobs,
    hosts: new Set(recent.map(({ host }) => host)),
    scopes: sayAll ? new Set([...jobs, ...recent.flatMap(({ scopes }) => scopes ?? [])]) : null,
    dags: sayAll ? new Set(recent.flatMap(({ dags }) => dags ?? [])) : null,
  };
}

const JOB_FAMILIES: ReadonlySet<string> = new Set([
  "runs",
  "logs",
  "catchup",
  "retries",
  "reboot",
  "inflight",
  "slots",
]);
const HOST_FAMILIES: ReadonlySet<string> = new Set(["counters", "manifests"]);

/**
 * Whether a stream may be deleted once it is old enough (GC-2). What is not positively recognized stays (GC-7).
 *
 * @param pausedJobs jobs with a pause in force; only these need their pause records
 * @param runScopes artifact scopes of DAG runs whose documents are there
 */
export function mayCollect(
  stream: string,
  keep: Keep,
  pausedJobs: ReadonlySet<string>,
  runScopes: ReadonlySet<string>,
): boolean {
  const slash = stream.indexOf("/");
  const family = stream.slice(0, Math.max(0, slash));
  const name = stream.slice(slash + 1);
  if (name === "") return false;
  if (JOB_FAMILIES.has(family)) return !keep.jobs.has(name);
  if (HOST_FAMILIES.has(family)) return !keep.hosts.has(name);
  if (family === "paused") return !pausedJobs.has(name);
  if (family === "artifacts") return keep.scopes !== null && !keep.scopes.has(name) && !runScopes.has(name);
  if (family === "catchup-dag") return keep.dags !== null && !keep.dags.has(name);
  return false;
}

/** Whether the newest pause record of a job is a pause that still holds. One that does not say until when counts as holding. */
export function isPaused(newest: JsonObject, nowSeconds: number): boolean {
  if (newest.kind !== "paused") return newest.kind !== "resumed";
  const until = typeof newest.until === "string" ? instantSeconds(newest.until) : null;
  return until === null || until > nowSeconds;
}

const ENDED: ReadonlySet<JsonValue> = new Set(["success", "failed"]);

/** Whether a run document of a removed DAG is over and old (GC-3); one still running or unclear stays. */
export function isFinishedRun(document: JsonObject, beforeSeconds: number): boolean {
  const { state, updatedAt } = document;
  return state !== undefined && ENDED.has(state) && typeof updatedAt === "number" && updatedAt < beforeSeconds;
}

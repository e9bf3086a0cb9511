import { canonicalLaunch } from "../config/fingerprint.ts";
import type { DagConfig, DagTaskConfig } from "../config/model.ts";
import { compareCodePoints, type JsonObject, jsonFloat } from "../store/json.ts";
import { encodeJson } from "../store/json-text.ts";

/** Lower-case hex SHA-256 of a text's UTF-8. */
export type Sha256 = (text: string) => string;

/**
 * What the tasks of a DAG are and how they are started, as one hash (15). The order of tasks in the file does not matter, nor do schedule,
 * retention and reporters; of the environment only the names count, of secrets too.
 */
export function configurationRevision(dag: DagConfig, sha256: Sha256): string {
  return sha256(canonical(dag.tasks.toSorted((a, b) => compareCodePoints(a.id, b.id)).map(taskSpec)));
}

function taskSpec(task: DagTaskConfig): JsonObject {
  return {
    id: task.id,
    type: task.type,
    dependsOn: task.dependsOn.toSorted(compareCodePoints),
    triggerRule: task.triggerRule,
    retries: task.retries,
    retryDelaySeconds: jsonFloat(task.retryDelaySeconds),
    expand: task.expand === null ? null : { ...task.expand },
    pokeIntervalSeconds: jsonFloat(task.pokeIntervalSeconds),
    pokeTimeoutSeconds: jsonFloat(task.pokeTimeoutSeconds),
    pokeJitterSeconds: jsonFloat(task.pokeJitterSeconds),
    onReject: task.onReject,
    launch: task.type === "approval" || task.job === null ? null : launchSpec(task.job),
  };
}

/** What a job's own digest leaves out changes what a task does all the same. */
function launchSpec(job: NonNullable<DagTaskConfig["job"]>): JsonObject {
  const { workingDirectory, envFile, secrets, stateAllowedScopes } = job.launch;
  return {
    launch: canonicalLaunch(job),
    workingDirectory,
    envFile,
    secrets: secrets.map(({ name }) => name).toSorted(compareCodePoints),
    stateAllowedScopes: stateAllowedScopes.toSorted(compareCodePoints),
  };
}

/** Text that depends on the value alone. */
export function canonical(value: Parameters<typeof encodeJson>[0]): string {
  const encoded = encodeJson(value);
  if (encoded.kind === "text") return encoded.text;
  throw new Error(`what is hashed should be portable: ${encoded.problem}`);
}

import { JobApiError } from "./job-api-error.ts";

/** Where the tasks of a workflow run hand data to each other. */
export interface XcomPlace {
  readonly scope: string;
  readonly taskKey: string;
}

/** @throws JobApiError outside of a task */
export function xcomPlace(environment: NodeJS.ProcessEnv): XcomPlace {
  const scope = required(environment, "CRONSTABLE_DAG_XCOM_SCOPE");
  return { scope, taskKey: required(environment, "CRONSTABLE_DAG_TASKKEY") };
}

function required(environment: NodeJS.ProcessEnv, variable: string): string {
  const value = environment[variable];
  if (value) return value;
  throw new JobApiError(
    "not in a job",
    `not running inside a cronstable DAG task: ${variable} is not set (the daemon sets it for the tasks of a DAG)`,
  );
}

/** Name of an artifact that holds what a task pushed (D-XCM-7). */
export function xcomName(taskKey: string, key: string): string {
  return `${taskKey}/${key}`;
}

/** Key of a task, or of one instance of a mapped one. */
export function taskKeyOf(task: string, mapIndex: number | string | undefined): string {
  return mapIndex === undefined ? task : `${task}#${mapIndex}`;
}

import type { DagConfig } from "../../../src/config/model.ts";
import { configOf } from "../../config/loading.ts";

/** A task as a configuration has it; all but gates get a command. */
export type WrittenTask = Readonly<Record<string, unknown>> & { readonly id: string };

/** A DAG of these tasks, as the configuration loads it. */
export function dagOf(name: string, tasks: readonly WrittenTask[]): DagConfig {
  const dags = [{ name, tasks: tasks.map((task) => (task.type === "approval" ? task : { command: "true", ...task })) }];
  const [dag] = configOf(JSON.stringify({ state: { path: "/nowhere" }, dags })).dags;
  if (dag === undefined) throw new Error("no DAG was loaded");
  return dag;
}

import { expect, test } from "vitest";
import type { DagControl } from "../../src/contract/dag-control.ts";
import { dagOf } from "../dag/run-on-paper.ts";
import { jobConfig } from "../support/job-config.ts";
import { configOf } from "../support/node.ts";
import { startWebNode } from "../support/web-node.ts";

test("runs and attempts are counted by DAG; what waits is as the engine saw it last (dags 20)", async () => {
  const figures: DagControl["figures"] = () => [{ dag: "d", activeRuns: 2, gatesWaiting: 1 }];
  const config = { ...configOf([]), dags: [dagOf([{ id: "a" }]), dagOf([{ id: "b" }], { name: "quiet" })] };
  const node = await startWebNode({ config, parts: { dags: () => ({ figures }) as DagControl } });
  const at = node.clock.wallNow();
  const run = { dag: "d", runKey: "manual-1", at };
  node.events.emit("dag.run.ended", { ...run, state: "success" });
  node.events.emit("dag.run.ended", { ...run, state: "failed" });
  node.events.emit("dag.run.ended", { ...run, state: "failed", dag: "removed" });
  const ended = { dag: "d", task: "a", job: jobConfig({ name: "d.a" }), runId: "1", result: {} as never, at };
  for (const outcome of ["failed", "success", "success"] as const)
    node.events.emit("dag.task.ended", { ...ended, outcome });
  const { text } = await node.get("/metrics");
  expect(text.split("\n").filter((line) => line.startsWith("cronstable_dag_"))).toEqual([
    'cronstable_dag_runs_total{dag="d",state="success"} 1',
    'cronstable_dag_runs_total{dag="d",state="failed"} 1',
    'cronstable_dag_runs_total{dag="quiet",state="success"} 0',
    'cronstable_dag_runs_total{dag="quiet",state="failed"} 0',
    'cronstable_dag_task_attempts_total{dag="d",task="a",outcome="success"} 2',
    'cronstable_dag_task_attempts_total{dag="d",task="a",outcome="failed"} 1',
    'cronstable_dag_active_runs{dag="d"} 2',
    'cronstable_dag_gates_waiting{dag="d"} 1',
    `cronstable_dag_last_success_timestamp_seconds{dag="d"} ${at / 1000}`,
  ]);
  expect(text).not.toContain("d.a"); // tasks have no series of jobs (D-CFG-12)
  await node.stop();
});

/** Names that must differ, because runs, records and metrics are kept by name (config 6.1, 7.4, 7.5). */
import { quoted } from "../../schedule/schedule-error.ts";
import type { JobEntry } from "../file-part.ts";
import type { Findings } from "../problem.ts";
import { jobProblem, nameList } from "./entries.ts";
import type { Whole } from "./whole.ts";

export function checkNames(whole: Whole, findings: Findings): void {
  const jobs = checkJobNames(whole, findings);
  checkDagNames(whole);
  checkTaskNames(whole, jobs);
  checkPoolNames(whole);
}

function checkJobNames({ jobs }: Whole, findings: Findings): ReadonlyMap<string, JobEntry> {
  const byName = new Map<string, JobEntry>();
  const again: JobEntry[] = [];
  for (const entry of jobs) {
    if (byName.has(entry.config.name)) again.push(entry);
    else byName.set(entry.config.name, entry);
  }
  const [first] = again;
  if (first !== undefined)
    jobProblem(
      first,
      "name",
      `duplicate job name(s): ${nameList(again.map(({ config }) => config.name))}; the scheduler tracks jobs by name, so ` +
        "all but the last definition of a name would silently never run. Rename the duplicates.",
      findings,
    );
  return byName;
}

function checkDagNames({ dags }: Whole): void {
  const names = new Set<string>();
  const again = dags.filter(({ config }) => names.size === names.add(config.name).size);
  again[0]?.subject.problem(["name"], `duplicate dag name(s): ${nameList(again.map(({ config }) => config.name))}`);
}

/** A task launches as `<dag>.<task>`, a DAG's schedule is kept as `dag:<dag>`. */
function checkTaskNames({ dags }: Whole, jobs: ReadonlyMap<string, JobEntry>): void {
  const templates = new Map<string, { readonly dag: string; readonly task: string }>();
  for (const { config, subject } of dags) {
    const dag = `dag ${quoted(config.name)}`;
    for (const [index, { id }] of config.tasks.entries()) {
      const template = `${config.name}.${id}`;
      const at = ["tasks", index, "id"];
      const task = `task ${quoted(id)}`;
      if (jobs.has(template))
        subject.problem(
          at,
          `job ${quoted(template)} collides with ${dag} ${task}: dag tasks launch under the template name '<dag>.<taskId>' ` +
            "and would share that job's concurrency bookkeeping; rename the job or the task",
        );
      const other = templates.get(template);
      if (other !== undefined && other.dag !== config.name)
        subject.problem(
          at,
          `dag ${quoted(other.dag)} task ${quoted(other.task)} and ${dag} ${task} both launch under the template name ` +
            `${quoted(template)} (task ids may contain '.', so distinct dag/task pairs can collide); rename one so their runs are not entangled`,
        );
      templates.set(template, { dag: config.name, task: id });
    }
    const schedule = `dag:${config.name}`;
    if (config.timing !== null && jobs.has(schedule))
      subject.problem(
        ["name"],
        `job ${quoted(schedule)} collides with the schedule of ${dag}; rename the job or the dag`,
      );
  }
}

function checkPoolNames({ pools }: Whole): void {
  const names = new Set<string>();
  for (const { config, subject } of pools)
    if (names.size === names.add(config.name).size) subject.problem([], `duplicate pool ${quoted(config.name)}`, "key");
}

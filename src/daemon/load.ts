import { hostFacts } from "../config/facts.ts";
import { type LoadResult, loadConfig } from "../config/load.ts";
import type { Config, JobConfig, ReportConfig } from "../config/model.ts";
import type { ConfigProblem } from "../config/problem.ts";
import { blockTemplateProblems } from "../report/template-problems.ts";

/** Loads a configuration as a daemon may use it: what config/ checks, and the templates of its reports (running 11.1). */
export function loadWithTemplates(path: string): LoadResult {
  const loaded = loadConfig(path, hostFacts(Date.now()));
  if (!loaded.ok) return loaded;
  const problems = templateProblems(loaded.config);
  return problems.length === 0 ? loaded : { ok: false, problems };
}

function templateProblems({ jobs, dags, notify }: Config): ConfigProblem[] {
  // Most blocks are the shared defaults: each is looked at once, however many jobs have it.
  const sound = new Set<ReportConfig>();
  const problemsOf = (
    block: ReportConfig,
    option: string,
    { place, name }: Pick<JobConfig, "place" | "name">,
  ): ConfigProblem[] => {
    if (sound.has(block)) return [];
    const found = blockTemplateProblems(block);
    if (found.length === 0) sound.add(block);
    return found.map(({ option: key, problem }) => ({
      at: place,
      path: `${option}.report.${key}`,
      job: name,
      problem: `invalid template: ${problem}`,
    }));
  };
  const tasks = dags.flatMap((dag) => dag.tasks.flatMap(({ job }) => (job === null ? [] : [job])));
  const problems = [...jobs, ...tasks].flatMap((job) =>
    Object.entries(job.reports).flatMap(([hook, block]) => problemsOf(block, hook, job)),
  );
  if (notify === null) return problems;
  const place = { file: "notify", line: 1, column: 1 };
  return [...problems, ...problemsOf(notify.report, "notify", { place, name: "notify" })];
}

/** Reporters that need more than their block (config 6.6). */
import type { LoadFacts } from "../facts.ts";
import type { ReportConfig, ReportHooks } from "../model.ts";
import type { Findings } from "../problem.ts";
import { jobProblem } from "./entries.ts";
import type { Whole } from "./whole.ts";

export function checkReporters(whole: Whole, facts: LoadFacts, findings: Findings): void {
  const pushed = users(whole, ({ push }) => push.enabled);
  const [first] = pushed;
  if (first !== undefined && whole.sections.push === undefined)
    first.problem(
      `report.push.enabled is set (${listed(pushed)}) but no \`push:\` section is configured; add one, or disable the reporter`,
    );
  const logged = facts.platform === "windows" ? [] : users(whole, ({ eventlog }) => eventlog.enabled);
  if (logged.length > 0)
    findings.warning(
      `report.eventlog is enabled (${listed(logged)}) but there is no Windows event log on this host; it does nothing here`,
    );

  function users({ jobs, dags, sections }: Whole, uses: (report: ReportConfig) => boolean): readonly User[] {
    const anyHook = (reports: ReportHooks): boolean => Object.values(reports).some(uses);
    const { notify } = sections;
    return [
      ...jobs
        .filter(({ config }) => anyHook(config.reports))
        .map((entry) => ({
          what: `job ${entry.config.name}`,
          problem: (problem: string) => jobProblem(entry, "report", problem, findings),
        })),
      ...dags.flatMap(({ config, subject }) =>
        config.tasks
          .filter(({ job }) => job !== null && anyHook(job.reports))
          .map(({ id }) => ({
            what: `dag ${config.name} task ${id}`,
            problem: (problem: string) => subject.problem([], problem),
          })),
      ),
      ...(notify?.config != null && uses(notify.config.report)
        ? [{ what: "notify", problem: (problem: string) => notify.subject.problem([], problem) }]
        : []),
    ];
  }
}

interface User {
  readonly what: string;
  readonly problem: (problem: string) => void;
}

function listed(users: readonly User[]): string {
  return users.map(({ what }) => what).join(", ");
}

/** Jobs of a classic crontab (config 9): each has the built-in defaults, and the assignments above its line. */
import { basename } from "node:path";
import { quoted } from "../../schedule/schedule-error.ts";
import { zoneNamed } from "../../schedule/zone.ts";
import { crontabLines } from "../crontab.ts";
import { mergeOver } from "../merge.ts";
import type { JobConfig } from "../model.ts";
import type { Findings } from "../problem.ts";
import type { Subject } from "../subject.ts";
import type { BuildContext } from "./context.ts";
import { buildJob, builtInFor, type JobBase, jobBase } from "./job.ts";

/** The jobs of a crontab's text; what is wrong with a line becomes a problem at that line. */
export function crontabJobs(file: string, text: string, context: BuildContext): JobConfig[] {
  const jobs: JobConfig[] = [];
  const variables = new Map<string, string>();
  /** For the entries until the next assignment, which so share what is alike. */
  let base: JobBase | null = null;
  for (const line of crontabLines(text)) {
    const name = `${basename(file)}:${line.line}`;
    const subject = lineSubject(file, line.line, line.kind === "entry" ? name : null, context.findings);
    if (line.kind === "wrong") subject.problem([], line.problem);
    else if (line.kind === "assignment") {
      const problem = assignmentProblem(line.name, line.value, context);
      if (problem !== null) subject.problem([], problem);
      else variables.set(line.name, line.value);
      if (context.facts.platform === "windows" && line.name === "PATH" && line.value.startsWith("/"))
        context.findings.warning(`${file}:${line.line}: PATH ${quoted(line.value)} is no Windows search path`);
      base = null;
    } else {
      base ??= baseUnder(variables, context, subject);
      const job = buildJob({ name, command: line.command, schedule: line.schedule }, base, context, subject);
      if (job !== null) jobs.push(job);
    }
  }
  return jobs;
}

function assignmentProblem(name: string, value: string, { facts }: BuildContext): string | null {
  if (name === "CRON_TZ" && zoneNamed(value) === null) return `CRON_TZ: unknown timezone ${quoted(value)}`;
  if (name === "SHELL" && facts.platform === "windows" && value.startsWith("/"))
    return `SHELL: ${quoted(value)} is no Windows program`;
  return null;
}

/** Every assignment reaches the command; two of them mean something to us as well. */
function baseUnder(variables: ReadonlyMap<string, string>, context: BuildContext, subject: Subject): JobBase {
  const environment = [...variables].map(([key, value]) => ({ key, value }));
  const shell = variables.get("SHELL") ?? "";
  const timezone = variables.get("CRON_TZ");
  const written = {
    environment,
    ...(shell === "" ? {} : { shell }),
    ...(timezone === undefined ? {} : { timezone }),
  };
  return jobBase(mergeOver(builtInFor(context.facts.platform), written), context, subject);
}

/** A crontab has no keys: whatever is wrong is wrong with the line. */
function lineSubject(file: string, line: number, job: string | null, findings: Findings): Subject {
  const at = { file, line, column: 1 };
  const subject: Subject = {
    job,
    problem: (_path, problem) => findings.problem({ at, path: "", job, problem }),
    pathOf: () => "",
    place: () => at,
    inside: () => subject,
  };
  return subject;
}

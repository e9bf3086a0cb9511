import { type Command, Option } from "commander";
import { hostFacts } from "../config/facts.ts";
import { loadConfig } from "../config/load.ts";
import type { Config, JobConfig } from "../config/model.ts";
import { problemsText } from "../config/problem.ts";
import { parseSchedule } from "../schedule/expression.ts";
import { type FleetEntry, finish } from "../schedule/fleet.ts";
import { pressureHours } from "../schedule/limits.ts";
import { type Finding, lint } from "../schedule/lint.ts";
import { type Pressure, pressure } from "../schedule/pressure.ts";
import { preview } from "../schedule/preview.ts";
import { type Answer, askedZone, boundedCount } from "../schedule/query.ts";
import { ScheduleError } from "../schedule/schedule-error.ts";
import { askedPeriod, suggestionHours, suggestSlot } from "../schedule/suggest.ts";
import { verdict, type WhyJob, whyNoRun } from "../schedule/why.ts";
import { utcZone } from "../schedule/zone.ts";
import type { CommandContext } from "./command-line.ts";
import { Refusal } from "./errors.ts";
import { DEFAULT_CONFIG } from "./root.ts";

/** `cronstable schedule …`: the same answers as the HTTP endpoints give (schedules 9 to 15), as text or with `--json` as they are. */
export function register(program: Command, context: CommandContext): void {
  const schedule = program.command("schedule").description("explain, preview and check schedules");
  const json = (): Option => new Option("--json", "print the answer as JSON");
  const config = (): Option => new Option("-c, --config <file-or-dir>", "configuration to ask about");
  const fleet = (command: Command): Config =>
    loaded(command.opts<{ config?: string }>().config ?? context.root().config);

  schedule
    .command("preview <expression>")
    .description("what an expression means and when it fires next")
    .option("--tz <zone>", "time zone, e.g. Europe/Berlin (default: UTC)")
    .option("--limit <n>", "how many fires to show, at most 60 (default: 12)")
    .option("--seed <job>", "job name that places H slots")
    .addOption(json())
    .action((expr: string, { json, ...asked }: { tz?: string; limit?: string; seed?: string; json?: boolean }) => {
      const answer = payload(preview({ expr, ...asked }, Date.now()));
      show(json, answer, () => {
        if (!answer.valid) return [`not a schedule: ${answer.error}`];
        const lines = [answer.description];
        if (answer.resolved !== undefined) lines.push(`resolved: ${answer.resolved}`);
        lines.push(...answer.fires.map((fire) => `  ${fire}`), ...findingLines(answer.lint));
        if (answer.never_fires && !answer.reboot) lines.push("it never fires");
        return lines;
      });
      if (!answer.valid) context.finish(1);
    });

  schedule
    .command("why <job> <at>")
    .description("whether a job's schedule selects an instant, and if not, which field is against it")
    .addOption(config())
    .addOption(json())
    .action((job: string, at: string, { json }: { json?: boolean }, command: Command) => {
      const jobs = fleet(command).jobs;
      const answer = payload(
        whyNoRun({ job, at }, (name) => whyJob(jobs.find((candidate) => candidate.name === name))),
      );
      show(json, answer, () => [
        verdict(answer),
        ...answer.checks.map(
          ({ field, label, allowed, matched }) => `  ${matched ? "yes" : "NO "}  ${field}: ${label} (${allowed})`,
        ),
        ...findingLines(answer.notes),
        `previous fire: ${answer.previous_fire ?? "none"}`,
        `next fire:     ${answer.next_fire ?? "none"}`,
      ]);
    });

  schedule
    .command("lint [expression]")
    .description("what may surprise in one expression, or in every schedule of the configuration")
    .option("--tz <zone>", "time zone of the expression (default: UTC)")
    .option("--seed <job>", "job name that places H slots")
    .addOption(config())
    .addOption(json())
    .action((expr: string | undefined, asked: { tz?: string; seed?: string; json?: boolean }, command: Command) => {
      const findings = expr === undefined ? fleetFindings(fleet(command)) : expressionFindings(expr, asked);
      show(asked.json, findings, () =>
        findings.length === 0
          ? ["nothing to remark"]
          : findings.map(
              ({ job, code, level, message }) => `${job === null ? "" : `${job}: `}${level}: [${code}] ${message}`,
            ),
      );
    });

  schedule
    .command("pressure")
    .description("which minutes of the day are crowded, which are free")
    .option("--hours <n>", "length of the window, at most 168 (default: 24)")
    .option("--tz <zone>", "zone whose clock is shown (default: UTC)")
    .addOption(config())
    .addOption(json())
    .action(({ json, hours, tz }: { json?: boolean; hours?: string; tz?: string }, command: Command) => {
      const answer = pressureOf(fleet(command), boundedCount(hours, pressureHours), tz);
      show(json, answer, () => [
        `${answer.total_fires} fires of ${answer.jobs} job(s) in ${answer.hours} hours (${answer.timezone})`,
        `busiest minute: :${two(answer.busiest_minute.minute)}, ${answer.busiest_minute.fires} fires of ${answer.busiest_minute.jobs} job(s)`,
        `free minutes: ${answer.empty_minutes.length === 0 ? "none" : answer.empty_minutes.map((minute) => `:${two(minute)}`).join(" ")}`,
        ...answer.top_cells.map(
          ({ hour, minute, fires, jobs }) => `  ${two(hour)}:${two(minute)}  ${fires} fires  ${jobs.join(", ")}`,
        ),
      ]);
    });

  schedule
    .command("suggest")
    .description("a quiet slot for a new job")
    .addOption(new Option("--period <period>", "hourly or daily").default("hourly"))
    .option("--tz <zone>", "zone of a daily slot (default: UTC)")
    .addOption(config())
    .addOption(json())
    .action(({ json, period, tz }: { json?: boolean; period: string; tz?: string }, command: Command) => {
      const asked = payload(askedPeriod(period));
      const answer = suggestSlot(asked, pressureOf(fleet(command), suggestionHours, tz));
      show(json, answer, () => [
        `${answer.expression}   (${answer.fires_in_window} fires there in ${answer.based_on.hours} hours, ${answer.timezone})`,
        ...answer.alternatives.map(({ expression }) => `or ${expression}`),
        `or ${answer.hash_hint}, and the job's name chooses`,
      ]);
    });
}

function show(json: boolean | undefined, answer: unknown, lines: () => readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(answer, null, 2)}\n` : `${lines().join("\n")}\n`);
}

function payload<T>(answer: Answer<T>): T {
  if (answer.kind !== "answer") throw new Refusal(answer.error);
  return answer.payload;
}

function loaded(path: string | null): Config {
  const result = loadConfig(path ?? DEFAULT_CONFIG, hostFacts(Date.now()));
  if (!result.ok) throw new Refusal(`Configuration error: ${problemsText(result.problems)}`);
  return result.config;
}

function whyJob(job: JobConfig | undefined): WhyJob | null {
  if (job === undefined) return null;
  const { name, enabled, timing } = job;
  if (timing.kind !== "timetable") return { name, enabled, zone: utcZone, timetable: "@reboot", paused: null };
  return { name, enabled, zone: timing.zone, timetable: timing.schedule, paused: null };
}

interface JobFinding extends Finding {
  /** Null for an expression that was asked about by itself. */
  readonly job: string | null;
}

function fleetFindings({ jobs }: Config): JobFinding[] {
  return jobs.flatMap(({ name, timing }) =>
    timing.kind !== "timetable"
      ? []
      : lint(timing.schedule, timing.zone, Date.now()).map((finding) => ({ job: name, ...finding })),
  );
}

function expressionFindings(expression: string, { tz, seed }: { tz?: string; seed?: string }): JobFinding[] {
  const zone = payload(askedZone(tz));
  try {
    return lint(parseSchedule(expression, seed), zone, Date.now()).map((finding) => ({ job: null, ...finding }));
  } catch (error) {
    if (error instanceof ScheduleError) throw new Refusal(`invalid schedule '${expression}': ${error.message}`);
    throw error;
  }
}

function pressureOf(config: Config, hours: number, tz: string | undefined): Pressure {
  const entries: FleetEntry[] = [];
  const excluded = { disabled: 0, reboot: 0 };
  for (const { name, enabled, timing } of config.jobs) {
    if (!enabled) excluded.disabled++;
    else if (timing.kind !== "timetable") excluded.reboot++;
    else entries.push({ name, schedule: timing.schedule, zone: timing.zone });
  }
  for (const { name, enabled, timing } of config.dags) {
    if (enabled && timing !== null) entries.push({ name: `dag:${name}`, schedule: timing.schedule, zone: timing.zone });
  }
  return finish(pressure({ entries, excluded, startMs: Date.now(), hours, zone: payload(askedZone(tz)) }));
}

function findingLines(findings: readonly Finding[]): string[] {
  return findings.map(({ code, level, message }) => `${level}: [${code}] ${message}`);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

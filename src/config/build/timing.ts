/** When a job is due: its schedule and zone, read once for all jobs that spell them alike. */
import { parseSchedule, type Schedule } from "../../schedule/expression.ts";
import { lint } from "../../schedule/lint.ts";
import { quoted, ScheduleError } from "../../schedule/schedule-error.ts";
import { localZone, utcZone, type Zone, zoneNamed } from "../../schedule/zone.ts";
import { isBlank } from "../blanks.ts";
import type { LoadFacts } from "../facts.ts";
import type { Timing } from "../model.ts";
import type { Findings } from "../problem.ts";
import type { Subject } from "../subject.ts";

/** A schedule as written: crontab text, or columns by name. */
export type WrittenSchedule = string | { readonly [column: string]: string | undefined };

export interface WrittenFrame {
  readonly utc: boolean;
  readonly timezone?: string | undefined;
}

/** When something is due, and the crontab line that says so. */
export interface Due {
  readonly text: string;
  readonly timing: Timing;
}

export type Timetable = Extract<Timing, { kind: "timetable" }>;

const reboot: Timing = { kind: "reboot" };

interface Known {
  readonly text: string;
  readonly timing: Timetable;
}

/** Reads schedules for one load. */
export class Timings {
  readonly #findings: Findings;
  readonly #facts: Pick<LoadFacts, "nowMs" | "hostZone">;
  #hostZone: Zone | null = null;
  /** By zone and text; hashed schedules are each job's own. */
  readonly #known = new Map<string, Known>();
  /** Findings of the linter by zone and schedule. */
  readonly #linted = new Map<string, ReturnType<typeof lint>>();

  constructor(facts: Pick<LoadFacts, "nowMs" | "hostZone">, findings: Findings) {
    this.#findings = findings;
    this.#facts = facts;
  }

  /**
   * The job's timing; null, and problems of `subject`, where the schedule or the zone will not do. Tells the linter's findings.
   *
   * @param name of the job, which `H` hashes
   */
  read(name: string, schedule: WrittenSchedule, frame: WrittenFrame, subject: Subject): Due | null {
    const text = scheduleText(schedule, subject);
    const zone = this.#zone(frame, subject);
    if (text === null || zone === null) return null;
    if (text === "@reboot") return { text, timing: reboot };
    const key = `${zone.label}\0${text}`;
    const known = this.#known.get(key) ?? this.#parse(name, text, zone, key, subject);
    if (known !== null) this.#tellLint(name, known.timing);
    return known;
  }

  #zone({ timezone, utc }: WrittenFrame, subject: Subject): Zone | null {
    if (timezone === undefined && utc) return utcZone;
    if (timezone === undefined) {
      this.#hostZone ??= localZone(this.#facts.hostZone) ?? { ...utcZone, label: "local" };
      return this.#hostZone;
    }
    const zone = zoneNamed(timezone);
    if (zone === null) subject.problem(["timezone"], `unknown timezone: ${timezone}`);
    return zone;
  }

  #parse(name: string, text: string, zone: Zone, key: string, subject: Subject): Known | null {
    try {
      const schedule = parseSchedule(text, name);
      const known: Known = { text, timing: { kind: "timetable", schedule, zone } };
      if (schedule.source === schedule.resolved) this.#known.set(key, known);
      return known;
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error;
      subject.problem(["schedule"], `invalid schedule ${quoted(text)}: ${error.message}`);
      return null;
    }
  }

  #tellLint(name: string, { schedule, zone }: Timetable): void {
    for (const { code, level, message } of this.#lint(schedule, zone)) {
      const line = `job ${quoted(name)}: schedule ${quoted(schedule.source)}: [${code}] ${message}`;
      if (level === "warning") this.#findings.warning(line);
      else this.#findings.info(line);
    }
  }

  #lint(schedule: Schedule, zone: Zone): ReturnType<typeof lint> {
    const key = `${zone.label}\0${schedule.source}\0${schedule.resolved}`;
    const known = this.#linted.get(key) ?? lint(schedule, zone, this.#facts.nowMs);
    this.#linted.set(key, known);
    return known;
  }
}

const columns = ["minute", "hour", "dayOfMonth", "month", "dayOfWeek"] as const;

/** The crontab line a schedule stands for (6.1); null, and problems, for columns that would shift the others. */
function scheduleText(schedule: WrittenSchedule, subject: Subject): string | null {
  if (typeof schedule === "string") return schedule;
  const bad = Object.entries(schedule).filter(([, column]) => column !== undefined && !isOneColumn(column));
  for (const [key, column] of bad) subject.problem(["schedule", key], columnProblem(key, column ?? ""));
  if (bad.length > 0) return null;
  const { second, year } = schedule;
  const five = columns.map((key) => schedule[key] ?? "*");
  if (second !== undefined) return [second, ...five, year ?? "*"].join(" ");
  return [...five, ...(year === undefined ? [] : [year])].join(" ");
}

function isOneColumn(column: string): boolean {
  return column !== "" && ![...column].some(isBlank);
}

function columnProblem(key: string, column: string): string {
  return (
    `schedule.${key}: must be a single non-empty cron field with no whitespace, got ${quoted(column)} (a blank value would ` +
    "drop this column and an embedded space would add one, silently shifting every later field; omit the key entirely for its default)"
  );
}

import type { Command } from "../config/model.ts";
import type { ReportFacts } from "../contract/report.ts";
import type { LimitsRecord, Verification } from "../contract/run.ts";
import { instantText } from "./instant-text.ts";
import { OUTPUT_CHARS_MAX } from "./limits.ts";

/** What all reporters tell, each in its own form: one run, one late job, or one event (running 11.2). */
export interface Story {
  readonly facts: ReportFacts;
  /** The job's name, or the DAG's or node's of an event. */
  readonly name: string;
  readonly success: boolean;
  readonly failReason: string | null;
  /** Output kept of the run, cut to what a report may carry; null when not captured. */
  readonly stdout: string | null;
  readonly stderr: string | null;
  readonly exitCode: number | null;
  readonly command: Command | null;
  readonly shell: string | null;
  readonly environment: Readonly<Record<string, string>> | null;
  readonly host: string;
  /** The crontab line. */
  readonly schedule: string | null;
  readonly startedAt: string | null;
  readonly runId: string | null;
  readonly cpuUserSeconds: number | null;
  readonly cpuSystemSeconds: number | null;
  readonly maxRssBytes: number | null;
  readonly verification: Verification | null;
  readonly limits: LimitsRecord | null;
}

/** Nothing of a run: what an event has, and a late job apart from its definition. */
const noRun = {
  stdout: null,
  stderr: null,
  exitCode: null,
  startedAt: null,
  runId: null,
  cpuUserSeconds: null,
  cpuSystemSeconds: null,
  maxRssBytes: null,
  verification: null,
  limits: null,
} as const;

/** @param host the daemon's HOSTNAME */
export function story(facts: ReportFacts, host: string): Story {
  switch (facts.kind) {
    case "run": {
      const { job, result } = facts;
      return {
        facts,
        name: job.name,
        success: result.failReason === null,
        failReason: result.failReason,
        stdout: result.stdout === null ? null : reportable(result.stdout.text),
        stderr: result.stderr === null ? null : reportable(result.stderr.text),
        exitCode: result.exitCode,
        command: job.command,
        shell: job.launch.shell,
        environment: result.environment,
        host,
        schedule: job.scheduleText,
        startedAt: instantText(result.startedAt),
        runId: facts.runId,
        cpuUserSeconds: result.resources?.cpuUserSeconds ?? null,
        cpuSystemSeconds: result.resources?.cpuSystemSeconds ?? null,
        maxRssBytes: result.resources?.maxRssBytes ?? null,
        verification: result.verification,
        limits: result.limits,
      };
    }
    case "late": {
      const { job } = facts;
      return {
        ...noRun,
        facts,
        name: job.name,
        success: false,
        failReason: `sla: ${facts.check} breached`,
        command: job.command,
        shell: job.launch.shell,
        environment: { HOSTNAME: host },
        host,
        schedule: job.scheduleText,
      };
    }
    case "event":
      return {
        ...noRun,
        facts,
        name: facts.name,
        success: false,
        failReason: facts.message,
        command: null,
        shell: null,
        environment: null,
        host,
        schedule: null,
      };
  }
}

/** CPU time of both kinds together, null when it was not measured. */
export function cpuSeconds({ cpuUserSeconds, cpuSystemSeconds }: Story): number | null {
  return cpuUserSeconds === null || cpuSystemSeconds === null ? null : cpuUserSeconds + cpuSystemSeconds;
}

/** Start and end of a text that is too long for a report, with a marker between. */
function reportable(text: string): string {
  if (text.length <= OUTPUT_CHARS_MAX) return text;
  const half = OUTPUT_CHARS_MAX / 2;
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(-half).replace(/^[\udc00-\udfff]/, "");
  return `${head}\n   [.... ${text.length - head.length - tail.length} characters left out ...]\n${tail}`;
}

/** `job x`, or `dag_failure of x`: what log lines call it. */
export function aboutOf({ facts, name }: Story): string {
  return facts.kind === "event" ? `${facts.event} of ${name}` : `job ${name}`;
}

/** `job x failure`: the same with its outcome. */
export function outcomeOf(story: Story): string {
  const { facts } = story;
  if (facts.kind === "event") return aboutOf(story);
  if (facts.kind === "late") return `${aboutOf(story)} late run`;
  return `${aboutOf(story)} ${facts.note === "recovered" ? "recovery" : outcomeWords[facts.hook]}`;
}

const outcomeWords = { onFailure: "failure", onPermanentFailure: "permanent failure", onSuccess: "success" } as const;

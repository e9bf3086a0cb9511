/** An account as text and as JSON: the same facts. Pure. */
import type { JobConfig } from "../../config/model.ts";
import type { NotRunReason } from "../../contract/reason.ts";
import type { Simulation, Transcript } from "../../daemon/simulation/simulation.ts";
import { isoInZone, type Zone } from "../../schedule/zone.ts";
import type { Account, Count, Entry, Sum } from "./account.ts";
import { notesOf } from "./notes.ts";
import { type InZone, whatOf, whyOf } from "./wording.ts";

export interface Reported {
  readonly simulation: Simulation;
  readonly transcript: Transcript;
  readonly account: Account;
  readonly zone: Zone;
}

/** The table, the sum of each job, the notes, and a line of totals. */
export function textOf({ simulation, transcript, account, zone }: Reported): string[] {
  const inZone: InZone = (at) => isoInZone(zone, at);
  const find = finder(simulation);
  const rows = account.entries.map((entry) => [
    inZone(entry.at),
    entry.kind === "daemon" ? "-" : entry.job,
    whatOf(entry),
    endText(entry, inZone),
    whyOf(entry, entry.kind === "daemon" ? null : find(entry.job), inZone),
  ]);
  const sums = [...account.jobs].map(([name, sum]) => [
    name,
    String(sum.fires),
    String(sum.ran),
    String(sum.caughtUp),
    String(sum.retried),
    String(sum.failed),
    skippedText(sum),
    countText(sum.missed),
    String(sum.overlaps),
    String(sum.mostAtOnce),
  ]);
  return [
    ...(rows.length === 0 ? ["nothing happens"] : columns(["AT", "JOB", "WHAT", "ENDS", "WHY"], rows)),
    "",
    ...(sums.length === 0 ? [] : [...columns(sumTitles, sums), ""]),
    ...notesOf(simulation, transcript, inZone).map((note) => `note: ${note}`),
    totalText(reportedTime({ simulation, transcript }), account, inZone),
  ];
}

const sumTitles = [
  "JOB",
  "FIRES",
  "RAN",
  "CAUGHT UP",
  "RETRIED",
  "FAILED",
  "SKIPPED",
  "MISSED",
  "OVERLAPS",
  "MOST AT ONCE",
];

/** The answer as `--json` prints it. Names as the HTTP API has them. */
export function answerOf({ simulation, transcript, account, zone }: Reported) {
  const inZone: InZone = (at) => isoInZone(zone, at);
  const find = finder(simulation);
  const { from, to } = reportedTime({ simulation, transcript });
  return {
    from: inZone(from),
    to: inZone(to),
    timezone: zone.label,
    complete: transcript.cutAt === null,
    entries: account.entries.map((entry) => ({
      at: inZone(entry.at),
      job: entry.kind === "daemon" ? null : entry.job,
      what: whatOf(entry),
      why: whyOf(entry, entry.kind === "daemon" ? null : find(entry.job), inZone),
      ...detailsOf(entry, inZone),
    })),
    jobs: [...account.jobs].map(([name, sum]) => ({ name, ...sumAnswer(sum) })),
    idle_jobs: account.idle,
    totals: sumAnswer(account.total),
    notes: notesOf(simulation, transcript, inZone),
  };
}

function detailsOf(entry: Entry, inZone: InZone) {
  switch (entry.kind) {
    case "run": {
      const { trigger, endsAt, outcome, overlaps } = entry;
      return {
        trigger: trigger.kind,
        slot: "slot" in trigger ? inZone(trigger.slot) : null,
        attempt: trigger.kind === "retry" ? trigger.attempt : 0,
        ends_at: inZone(endsAt),
        outcome,
        overlaps,
      };
    }
    case "skipped": {
      const { trigger, reason } = entry;
      const until = reason.kind === "paused" ? { until: inZone(reason.until) } : {};
      return {
        trigger: trigger.kind,
        slot: "slot" in trigger ? inZone(trigger.slot) : null,
        reason: { ...reason, ...until },
      };
    }
    case "missed": {
      const { lastSlot, slots, because } = entry;
      return { last_slot: inZone(lastSlot), slots: slots.count, at_least: slots.isLeast, because };
    }
    case "daemon":
      return {};
  }
}

function sumAnswer({ caughtUp, missed, mostAtOnce, skipped, ...counts }: Sum) {
  return {
    ...counts,
    caught_up: caughtUp,
    skipped: Object.fromEntries(skipped),
    missed: missed.count,
    missed_at_least: missed.isLeast,
    most_at_once: mostAtOnce,
  };
}

/** The time that was looked at: less than asked for where it was cut. */
function reportedTime({ simulation, transcript }: Pick<Reported, "simulation" | "transcript">) {
  return { from: simulation.from, to: transcript.cutAt ?? simulation.to };
}

function finder({ config }: Simulation): (name: string) => JobConfig | null {
  const jobs = new Map(config.jobs.map((job) => [job.name, job]));
  return (name) => jobs.get(name) ?? null;
}

function endText(entry: Entry, inZone: InZone): string {
  if (entry.kind !== "run" || entry.job.startsWith("dag:")) return "";
  const outcome = entry.outcome === null ? " (after the end)" : entry.outcome === "success" ? "" : ` ${entry.outcome}`;
  return `${inZone(entry.endsAt)}${outcome}`;
}

function skippedText({ skipped }: Sum): string {
  return skipped.size === 0 ? "0" : byReason(skipped);
}

function byReason(skipped: ReadonlyMap<NotRunReason["kind"], number>): string {
  return [...skipped].map(([kind, count]) => `${count} ${kind}`).join(", ");
}

function countText({ count, isLeast }: Count): string {
  return `${isLeast ? ">=" : ""}${count}`;
}

function totalText(
  { from, to }: ReturnType<typeof reportedTime>,
  { jobs, idle, total }: Account,
  inZone: InZone,
): string {
  const { fires, ran, caughtUp, retried, failed, missed, overlaps, mostAtOnce } = total;
  const skipped = [...total.skipped.values()].reduce((sum, count) => sum + count, 0);
  const of = total.skipped.size === 0 ? "" : ` (${byReason(total.skipped)})`;
  return `${inZone(from)} to ${inZone(to)}: ${jobs.size} of ${jobs.size + idle.length} jobs; ${fires} fires: ${ran} ran; ${caughtUp} caught up, ${retried} retried, ${failed} failed, ${skipped} skipped${of}, ${countText(missed)} missed, ${overlaps} overlaps, at most ${mostAtOnce} at once`;
}

/** Columns as wide as their widest cell, two spaces apart. */
function columns(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = titles.map((title) => title.length);
  for (const row of rows)
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length);
    });
  return [titles, ...rows].map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

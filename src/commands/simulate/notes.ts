import type { Timing } from "../../config/model.ts";
import type { Simulation, Transcript } from "../../daemon/simulation/simulation.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { nextFire } from "../../schedule/fires.ts";
import { NAMES_SHOWN_MAX } from "./limits.ts";
import type { InZone } from "./wording.ts";

/** Where the simulation is not what the daemon would do, or not all of it, and what the daemon itself would warn of. */
export function notesOf(
  { config, from, isFirstStart, outages, firesMax }: Simulation,
  { cutAt, logged }: Transcript,
  inZone: InZone,
): string[] {
  const notes: string[] = [];
  if (cutAt !== null) {
    notes.push(
      `stopped at ${inZone(cutAt)}: after ${firesMax} runs and skipped slots; ask for less time (--from, --to) or fewer jobs (--job)`,
    );
  }
  const enabled = config.jobs.filter((job) => job.enabled);
  const catching = enabled.filter(({ onMissed }) => onMissed !== "skip").map(({ name }) => name);
  if (config.state === null && outages.length > 0) {
    const jobs = catching.length === 0 ? "" : ` (onMissed is set on ${named(catching)})`;
    notes.push(`without a \`state\` section the daemon remembers nothing over a restart and catches nothing up${jobs}`);
  } else if (outages.length > 0 && catching.length > 0 && !isFirstStart) {
    notes.push(
      "each job is taken to have run, and succeeded, at its last slot before --from; --first-start says it had not",
    );
  }
  const never = enabled.filter(({ timing }) => isOver(timing, from)).map(({ name }) => name);
  if (never.length > 0) notes.push(`the schedule of ${named(never)} has no fire left, ever`);
  if (config.cluster !== null)
    notes.push("one node that owns every job is simulated, whatever the `cluster` section says");
  const disabled = config.jobs.length - enabled.length;
  if (disabled > 0) notes.push(`${disabled} ${disabled === 1 ? "job is" : "jobs are"} disabled`);
  return [...notes, ...logged.map((line) => `the daemon warns: ${line}`)];
}

function isOver(timing: Timing, from: EpochMs): boolean {
  return timing.kind === "timetable" && nextFire(timing.schedule, timing.zone, from - 1) === null;
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(", ");
  return names.length <= NAMES_SHOWN_MAX ? shown : `${shown} and ${names.length - NAMES_SHOWN_MAX} more`;
}

import type { LaunchConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Child } from "../platform/spawn/spawner.ts";

/** Nice levels of the five priorities; `normal` leaves what the daemon has. */
const niceLevels = { idle: 19, "below-normal": 10, normal: null, "above-normal": -5, high: -10 } as const;

/** Gives a process that has just been started the job's priority. A refusal never fails a run (running 1.4). */
export function applyPriority(child: Child, priority: LaunchConfig["priority"], subject: string, log: Logger): void {
  const level = niceLevels[priority];
  const refused = level === null ? null : child.setNice(level);
  if (refused !== null) log.debug(`${subject}: priority ${priority} was refused: ${refused}`);
}

import type { Processes } from "../journal/inflight/inflight.ts";
import { type ForeignProcess, processKey } from "./pass.ts";

/** What a task's process is beside its pid, as its record carries it (D-CRS-4); null where the system does not say. */
export function pidStart(processes: Processes, pid: number): string | null {
  const sight = processes.look(pid);
  return sight.kind === "exists" ? sight.identity : null;
}

/** Which of these processes live and are still the ones that were recorded. */
export function alive(processes: Processes, foreign: readonly ForeignProcess[]): ReadonlyMap<string, boolean> {
  return new Map(
    foreign.map((process) => {
      const sight = processes.look(process.pid);
      const known = process.pidStart;
      // A record of a build that kept none, or in the words of another: the pid alone has to do.
      const isSame =
        typeof known !== "string" || sight.kind === "gone" || sight.identity === null || sight.identity === known;
      return [processKey(process), sight.kind === "exists" && isSame];
    }),
  );
}

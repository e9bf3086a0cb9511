import { bootIdentity } from "../../platform/boot.ts";
import type { Clock } from "../../platform/clock.ts";
import { processExists, processStartedAt, processStartTicks } from "../../platform/process-identity.ts";
import type { Processes } from "./inflight.ts";

/**
 * The processes of this host. The identity is the boot and the tick at which the process started, so no other process ever has it; where
 * the system tells neither, only the pid's existence is left.
 */
export function systemProcesses(clock: Clock): Processes {
  const { bootId } = bootIdentity(clock.wallNow());
  return {
    look(pid) {
      if (!processExists(pid)) return { kind: "gone" };
      const ticks = processStartTicks(pid);
      const identity = bootId === null || ticks === null ? null : `${bootId}/${ticks}`;
      return { kind: "exists", startedAt: processStartedAt(pid, clock.wallNow()), identity };
    },
  };
}

import { processExists } from "../process-identity.ts";

/**
 * The processes that share a child's process group. Signals reach all of them, also after the leader has exited.
 *
 *   G1. While the leader has not been waited for, its number is ours: the group can be signalled.
 *   G2. After that the number stays reserved as long as the group has members. Once it is known to have none, or a process of that
 *       number exists again, the number may be somebody else's and is never signalled.
 */
export interface ProcessGroup {
  /** Signals every member; the leader alone where the group refuses. Nothing happens when all are gone. Never throws. */
  signal(signal: NodeJS.Signals): void;
}

/** A group by its leader, and the way to tell it that the leader has been waited for. */
export function processGroup(leader: number): { readonly group: ProcessGroup; readonly leaderGone: () => void } {
  let state: "led" | "leaderless" | "empty" = "led";
  return {
    leaderGone() {
      state = "leaderless";
    },
    group: {
      signal(signal) {
        if (state === "leaderless" && processExists(leader)) state = "empty"; // G2: a new process took the number
        if (state === "empty") return;
        const code = kill(-leader, signal);
        if (code === "ESRCH" && state === "leaderless") state = "empty";
        else if (code !== null && state === "led") kill(leader, signal); // G1
      },
    },
  };
}

/** Null when sent, else the error's code. */
function kill(pid: number, signal: NodeJS.Signals): string | null {
  try {
    process.kill(pid, signal);
    return null;
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
    throw error;
  }
}

import { type ControlClient, ControlError } from "../../client/control/control-client.ts";
import { type DagRunDocument, dagRunDocument } from "../../contract/wire/dags.ts";
import type { Clock } from "../../platform/clock.ts";
import { FOLLOW_EVERY_MS, FOLLOW_SILENCE_MAX_MS } from "./limits.ts";
import { changesOf } from "./tables.ts";

/**
 * Follows a run to its end. The run is the store's: a daemon that is started anew meanwhile goes on with it, so silence is borne for
 * a while.
 *
 * @param path the run's, in the API
 * @param tell is given a line per change of a task
 * @returns the run as it ended, and the answer that said so
 * @throws ControlError when the API refuses, or has been silent for FOLLOW_SILENCE_MAX_MS
 */
export async function followed(
  client: ControlClient,
  path: string,
  clock: Clock,
  tell: (line: string) => void,
): Promise<{ readonly run: DagRunDocument; readonly text: string }> {
  let before: DagRunDocument | null = null;
  let silentSince: number | null = null;
  for (;;) {
    try {
      const { value: run, text } = await client.get(path, dagRunDocument);
      silentSince = null;
      for (const line of changesOf(before, run)) tell(line);
      if (run.state !== "running") return { run, text };
      before = run;
    } catch (error) {
      if (!(error instanceof ControlError) || error.kind !== "unreachable") throw error;
      if (silentSince === null) tell(`${error.message}; still following`);
      silentSince ??= clock.elapsedNow();
      if (clock.elapsedNow() - silentSince >= FOLLOW_SILENCE_MAX_MS) throw error;
    }
    await new Promise<void>((resolve) => clock.after(FOLLOW_EVERY_MS, resolve));
  }
}

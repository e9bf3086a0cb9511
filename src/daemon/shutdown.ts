import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";

export interface ShutdownStack {
  /**
   * Remembers how to stop what has just been started. It follows the start on the next line, so that a start that fails half-way
   * undoes its half.
   *
   * @param patienceMs Infinity where running jobs are waited for
   */
  onStop(name: string, patienceMs: number, stop: () => Promise<void> | void): void;
  /** Stops all, last started first. A step that throws or outlasts its patience is logged by name; the rest still run. */
  stopAll(): Promise<void>;
}

export function shutdownStack(clock: Clock, log: Logger): ShutdownStack {
  const steps: { readonly name: string; readonly patienceMs: number; readonly stop: () => Promise<void> | void }[] = [];
  return {
    onStop(name, patienceMs, stop) {
      steps.push({ name, patienceMs, stop });
    },
    async stopAll() {
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        const { name, patienceMs, stop } = step;
        const outcome = await settleWithin(clock, patienceMs, stop);
        if (outcome !== null) log.warning(`shutdown step "${name}" ${outcome}; going on`);
      }
    },
  };
}

/** Null when it ended in time, else what went wrong. */
async function settleWithin(
  clock: Clock,
  patienceMs: number,
  stop: () => Promise<void> | void,
): Promise<string | null> {
  let cancel = (): void => {};
  const late = new Promise<string>((resolve) => {
    cancel = clock.after(patienceMs, () => resolve(`has not ended within ${patienceMs / 1000} seconds`));
  });
  const ended = (async () => stop())().then(
    () => null,
    (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
  );
  const outcome = await Promise.race([ended, late]);
  cancel();
  return outcome;
}

import type { Config } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Loaded } from "./load-aside.ts";

/** What a reload needs of the world. */
export interface ReloadParts {
  readonly log: Logger;
  /** Whether a file that this configuration was read from has changed, appeared or gone (config 10). */
  hasChanged(config: Config): boolean;
  /** Loads beside the running daemon. Never rejects; `detail` says all that is wrong. */
  load(): Promise<Loaded>;
  /** Puts a good configuration in force; cannot fail. */
  apply(config: Config, jobSetId: string): void;
  /** Told of each outcome, for the metric. */
  onOutcome(successful: boolean): void;
}

export interface Reloader {
  /** The look at the files, once a minute: loads when something changed, or while the last load was bad. */
  check(): void;
  /** SIGHUP: loads even if nothing seems to have changed. */
  force(): void;
  /** Lets go of a load under way: its result is not applied. */
  stop(): void;
}

type State = "idle" | "loading" | "loading, asked again" | "stopped";

/**
 * Reloads the configuration: all that can fail happens aside, then the swap, which cannot. A bad configuration changes nothing, is said
 * each time it is tried, and is tried again every minute.
 */
export function createReloader(parts: ReloadParts, first: Config): Reloader {
  const { log } = parts;
  let inForce = first;
  let lastWasBad = false;
  let state: State = "idle";
  const stateNow = (): State => state; // what others made of it while a load was awaited

  const load = async (): Promise<void> => {
    state = "loading";
    const loaded = await parts.load();
    const meanwhile = stateNow();
    if (meanwhile === "stopped") return;
    state = "idle";
    lastWasBad = !loaded.ok;
    if (loaded.ok) {
      inForce = loaded.config;
      parts.apply(loaded.config, loaded.jobSetId);
    } else {
      log.error(`Error in configuration file(s), so not updating any of the config.:\n${loaded.detail}`);
    }
    parts.onOutcome(loaded.ok);
    if (meanwhile === "loading, asked again") void load();
  };

  return {
    check() {
      if (state === "idle" && (lastWasBad || parts.hasChanged(inForce))) void load();
    },
    force() {
      if (state === "stopped") return;
      log.info("Reload requested (SIGHUP); reloading configuration");
      if (state === "idle") void load();
      else state = "loading, asked again";
    },
    stop() {
      state = "stopped";
    },
  };
}

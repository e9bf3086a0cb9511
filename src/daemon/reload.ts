import type { Config } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";

/** What a reload needs of the world. */
export interface ReloadParts {
  readonly log: Logger;
  /** Changes whenever a file that the last good load read has changed (config 10). */
  signature(): string;
  /** Loads beside the running daemon. Never rejects. */
  load(): Promise<{ readonly ok: true; readonly config: Config } | { readonly ok: false; readonly detail: string }>;
  /** Puts a good configuration in force; cannot fail. */
  apply(config: Config): void;
  /** Told of each outcome, for the metric. */
  onOutcome(successful: boolean): void;
}

export interface Reloader {
  /** The look at the files, once a minute: loads when something changed, or while the last load was bad. */
  check(): void;
  /** SIGHUP: loads even if nothing seems to have changed, and again until one load is good. */
  force(): void;
  /** Lets go of a load under way: its result is not applied. */
  stop(): void;
}

/**
 * Reloads the configuration: all that can fail happens aside, then the swap, which cannot. A bad configuration changes nothing, is said
 * each time it is tried, and is tried again every minute.
 */
export function createReloader(parts: ReloadParts, first: string): Reloader {
  const { log } = parts;
  let inForce = first;
  let state: "idle" | "loading" | "loading, asked again" | "stopped" = "idle";
  let retry = false;

  const load = async (): Promise<void> => {
    state = "loading";
    // Taken before the files are read: a change during the load is seen as one afterwards.
    const signature = parts.signature();
    const loaded = await parts.load();
    if (state === "stopped") return;
    const again = state === "loading, asked again";
    state = "idle";
    retry = !loaded.ok;
    if (loaded.ok) {
      inForce = signature;
      parts.apply(loaded.config);
      // The set of files may be another now; what counts from here on is what this load read.
      inForce = parts.signature();
    } else {
      log.error(`Error in configuration file(s), so not updating any of the config.:\n${loaded.detail}`);
    }
    parts.onOutcome(loaded.ok);
    if (again) void load();
  };

  return {
    check() {
      if (state === "idle" && (retry || parts.signature() !== inForce)) void load();
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

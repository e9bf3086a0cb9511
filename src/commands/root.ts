import { existsSync } from "node:fs";
import { jobSetId } from "../config/fingerprint.ts";
import { problemsText } from "../config/problem.ts";
import { loadWithTemplates } from "../daemon/load.ts";
import { createLogs } from "../daemon/logging/logs.ts";
import { levelThreshold } from "../daemon/logging/record.ts";
import { directStderr, standardTree } from "../daemon/logging/standard.ts";
import { systemClock } from "../platform/clock.ts";
import type { RootOptions } from "./command-line.ts";
import { UsageError } from "./errors.ts";

/** Where a configuration is looked for when none is named (config 1.1). */
export const DEFAULT_CONFIG = "/etc/cronstable.d";

export type RootMode = "daemon" | "validate" | "job set id" | "licenses";

/**
 * What `cronstable` does without a subcommand (config 12.1).
 *
 * @param bare no arguments at all were given
 * @returns the exit code
 */
export async function runRoot(mode: RootMode, root: RootOptions, bare: boolean, help: () => string): Promise<number> {
  const threshold = levelThreshold(root.logLevel);
  if (threshold === null) {
    throw new UsageError(`invalid --log-level '${root.logLevel}' (use DEBUG, INFO, WARNING, ERROR or CRITICAL)`);
  }
  if (mode === "licenses") {
    const { thirdPartyLicenses } = await import("./licenses.ts");
    process.stdout.write(thirdPartyLicenses());
    return 0;
  }
  const path = root.config ?? DEFAULT_CONFIG;
  if (path === DEFAULT_CONFIG && !existsSync(path)) return noDefault(path, bare, help());
  if (mode === "daemon") {
    const { runDaemon } = await import("./daemon.ts");
    return runDaemon(path, { threshold, format: root.logFormat });
  }

  const logs = createLogs(systemClock, standardTree({ threshold, format: root.logFormat }, directStderr));
  const loaded = loadWithTemplates(path);
  if (!loaded.ok) {
    logs.named("cronstable").error(`Configuration error: ${problemsText(loaded.problems)}`);
    return 1;
  }
  const configLog = logs.named("cronstable.config");
  for (const { level, message } of loaded.config.warnings) configLog[level](message);
  if (mode === "job set id") process.stdout.write(`${jobSetId(loaded.config.jobs)}\n`);
  else logs.named("cronstable").info("Configuration is valid.");
  return 0;
}

function noDefault(path: string, bare: boolean, help: string): number {
  const guidance = `cronstable error: configuration file not found at the default location (${path}). Run \`cronstable init\` to create a starter configuration there, or point -c/--config at an existing file or directory.\n`;
  (bare ? process.stdout : process.stderr).write(`${guidance}\n${help}`);
  return bare ? 0 : 1;
}

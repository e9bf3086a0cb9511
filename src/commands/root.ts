import { existsSync } from "node:fs";
import { levelThreshold } from "../daemon/logging/record.ts";
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
  if (root.nodeId !== null && !/^[^\p{Cc}#]{1,200}$/u.test(root.nodeId)) {
    throw new UsageError("invalid --node-id: 1 to 200 characters, without '#' and control characters");
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
    return runDaemon(path, { threshold, format: root.logFormat }, root.nodeId);
  }

  const { checkConfiguration } = await import("./check-configuration.ts");
  return checkConfiguration(path, mode, { threshold, format: root.logFormat });
}

function noDefault(path: string, bare: boolean, help: string): number {
  const guidance = `cronstable error: configuration file not found at the default location (${path}). Run \`cronstable init\` to create a starter configuration there, or point -c/--config at an existing file or directory.\n`;
  (bare ? process.stdout : process.stderr).write(`${guidance}\n${help}`);
  return bare ? 0 : 1;
}

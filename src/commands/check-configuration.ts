import { jobSetId } from "../config/fingerprint.ts";
import { problemsText } from "../config/problem.ts";
import { loadWithTemplates } from "../daemon/load.ts";
import { createLogs } from "../daemon/logging/logs.ts";
import { directStderr, type StandardOptions, standardTree } from "../daemon/logging/standard.ts";
import { systemClock } from "../platform/clock.ts";

/** `--validate-config` and `--job-set-id`: a load and its checks, no daemon, no network (config 12.1). */
export function checkConfiguration(path: string, mode: "validate" | "job set id", options: StandardOptions): number {
  const logs = createLogs(systemClock, standardTree(options, directStderr));
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

import type { Config } from "../config/model.ts";

/**
 * What a configuration asks for and this build does not do yet, one sentence each, said once at the start. Jobs run without it.
 */
export function inactiveParts(config: Config): string[] {
  const said: string[] = [];
  const section = (name: string, set: boolean, without: string): void => {
    if (set) said.push(`the configuration has a \`${name}\` section, which this build does not serve yet: ${without}`);
  };
  section("mcp", config.mcp?.enabled === true, "there is no MCP server; jobs run");
  section("cluster", config.cluster !== null, "this node runs every job, whatever other nodes do");
  const missed = config.jobs.filter((job) => job.onMissed !== "skip").length;
  if (missed > 0 && config.state === null) {
    said.push(
      `onMissed catch-up is set on ${missed} job(s) but needs a \`state\` backend for the last-run watermark; skipping`,
    );
  }
  const archived = config.jobs.filter((job) => job.archiveOutput).length;
  if (archived > 0 && config.state === null) {
    said.push(`archiveOutput is set on ${archived} job(s) but archives nothing without a \`state\` backend`);
  }
  return said;
}

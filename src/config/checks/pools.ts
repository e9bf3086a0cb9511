/** Pools and who waits for them (config 7.5). */
import { quoted } from "../../schedule/schedule-error.ts";
import type { JobConfig, PoolConfig } from "../model.ts";
import type { Findings } from "../problem.ts";
import { jobProblem } from "./entries.ts";
import type { Whole } from "./whole.ts";

export function checkPools({ pools, jobs, dags, sections }: Whole, findings: Findings): void {
  if (sections.state === undefined) pools[0]?.subject.problem([], "pools require durable state", "key");
  const byName = new Map(pools.map(({ config }) => [config.name, config]));
  for (const entry of jobs) {
    const found = claimProblem(entry.config, byName);
    if (found !== null) jobProblem(entry, found.key, found.problem, findings);
  }
  for (const { config, subject } of dags)
    for (const [index, { job }] of config.tasks.entries()) {
      const found = job === null ? null : claimProblem(job, byName);
      if (found !== null) subject.inside(["tasks", index], job?.name ?? null).problem([found.key], found.problem);
    }
}

function claimProblem(
  { name, launch: { pool: claim } }: JobConfig,
  pools: ReadonlyMap<string, PoolConfig>,
): { readonly key: string; readonly problem: string } | null {
  if (claim === null) return null;
  const pool = pools.get(claim.pool);
  const job = `job ${quoted(name)}`;
  if (pool === undefined) return { key: "pool", problem: `${job}: unknown pool ${quoted(claim.pool)}` };
  if (claim.slots <= pool.slots) return null;
  return { key: "poolSlots", problem: `${job}: poolSlots exceeds pool capacity` };
}

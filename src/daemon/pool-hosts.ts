import type { PoolHost } from "../scheduler/pool-line.ts";

/** The hosts of jobs and of tasks as one: each has the entries of its kind. */
export function poolHosts(jobs: PoolHost, tasks: PoolHost): PoolHost {
  const hostOf = ({ kind }: { readonly kind: "job" | "task" }): PoolHost => (kind === "job" ? jobs : tasks);
  return {
    facts: (entry) => hostOf(entry).facts(entry),
    admitted: (pool, entry, ladderEnded) => hostOf(entry).admitted(pool, entry, ladderEnded),
    lost: (pool, entry) => hostOf(entry).lost(pool, entry),
    left: (pool, entry) => hostOf(entry).left(pool, entry),
  };
}

/** A node that runs no DAG: tasks wait for others. */
export const noTasks: PoolHost = {
  facts: ({ jobDigest }) => ({
    host: "",
    job: { digest: jobDigest, isEnabled: true },
    isOwner: false,
    isPaused: false,
    isForbidden: false,
  }),
  admitted: () => {},
  lost: () => {},
  left: () => {},
};

import type { ChildEnvironment } from "../platform/spawn/spawner.ts";

export type Variables = Readonly<Record<string, string>>;

/** The daemon's own variables as every job gets them, HOSTNAME included (running 1.3 item 1). Taken once: starts share it. */
export function baseEnvironment(own: NodeJS.ProcessEnv, hostName: string): Variables {
  const base: Record<string, string> = { HOSTNAME: hostName };
  for (const [name, value] of Object.entries(own)) if (value !== undefined) base[name] = value;
  return base;
}

/** What a run adds to it: the job's own, then what the daemon injects, which a job cannot shadow. */
export function runEnvironment(
  base: Variables,
  configured: readonly (readonly [name: string, value: string])[],
  injected: Variables,
): ChildEnvironment {
  return { base, added: { ...Object.fromEntries(configured), ...injected } };
}

/** The whole environment for templates, null when the run adds nothing to the daemon's (running 1.3). */
export function environmentFacts({ base, added }: ChildEnvironment): Variables | null {
  return Object.keys(added).length === 0 ? null : { ...base, ...added };
}

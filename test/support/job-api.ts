import { randomBytes } from "node:crypto";
import type { JobConfig, StateConfig } from "../../src/config/model.ts";
import type { Logger } from "../../src/contract/log.ts";
import { type JobApi, type RunToRegister, startJobApi } from "../../src/jobapi/job-api.ts";
import type { ResolveSecret } from "../../src/jobapi/staged-secrets.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import type { Conduct } from "../../src/store/front/in-thread.ts";
import { type MemoryMedium, memoryMedium } from "../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../src/store/memory/open.ts";
import type { Store } from "../../src/store/store.ts";
import { jobConfig } from "./job-config.ts";
import { logLines } from "./log-lines.ts";

export const jobApiDefaults: StateConfig["jobApi"] = {
  enabled: true,
  listen: null,
  maxValueBytes: 1_048_576,
  maxArtifactBytes: 67_108_864,
  lockTtlSeconds: 30,
  allowNonLoopbackBind: false,
  tls: null,
};

/** Texts stand in `value`; a source without one is a problem. */
export const literalSecrets: ResolveSecret = async ({ value }) =>
  value === null ? { kind: "problem", problem: "it cannot be read" } : { kind: "secret", text: value };

export interface EndpointOptions {
  readonly config?: Partial<StateConfig["jobApi"]>;
  readonly clock?: Clock;
  readonly medium?: MemoryMedium;
  readonly store?: Store;
  readonly conduct?: (operation: string) => Conduct;
  readonly resolveSecret?: ResolveSecret;
  readonly log?: Logger;
  readonly host?: string;
}

/** An endpoint as a daemon starts it, by default over a store in memory. */
export async function startEndpoint(options: EndpointOptions = {}): Promise<JobApi> {
  const { clock = systemClock, medium = memoryMedium(), conduct = () => ({ kind: "answer" }) as const } = options;
  const writer = randomBytes(6).toString("hex");
  const api = await startJobApi({
    store: options.store ?? openMemoryStore({ medium, clock, writer, conduct }),
    config: { ...jobApiDefaults, ...options.config },
    clock,
    log: options.log ?? logLines().log,
    host: options.host ?? "node-a",
    procId: writer,
    resolveSecret: options.resolveSecret ?? literalSecrets,
  });
  if (api === null) throw new Error("the endpoint did not start");
  return api;
}

/** A run of the job `holder` unless said otherwise. */
export function aRun(changes: Partial<RunToRegister> & { readonly name?: string } = {}): RunToRegister {
  const { name = "holder", ...run } = changes;
  return {
    runId: randomBytes(16).toString("hex"),
    job: aJob(name),
    attempt: 0,
    scheduledAt: Date.UTC(2026, 10, 30, 8, 49),
    ...run,
  };
}

export function aJob(name: string, launch: Partial<JobConfig["launch"]> = {}): JobConfig {
  const job = jobConfig({ name });
  return { ...job, launch: { ...job.launch, ...launch } };
}

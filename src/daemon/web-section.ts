import type { ClusterSlots } from "../cluster/slots/slots.ts";
import type { Config } from "../config/model.ts";
import type { ControlPlane } from "../contract/control-plane.ts";
import type { DagControl } from "../contract/dag-control.ts";
import type { Events } from "../contract/events.ts";
import type { LoggerNamed } from "../contract/log.ts";
import type { PoolControl } from "../contract/pool-control.ts";
import type { Web } from "../http/web.ts";
import { isoInstant } from "../journal/instant.ts";
import type { Journal } from "../journal/journal.ts";
import type { JobTally } from "../metrics/job-counters.ts";
import type { Clock } from "../platform/clock.ts";
import type { Push } from "../report/push/push.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Store } from "../store/store.ts";
import type { StateInspectionParts } from "./state-inspection.ts";

export interface WebSectionParts {
  readonly clock: Clock;
  readonly logs: LoggerNamed;
  readonly events: Events;
  readonly scheduler: Scheduler;
  readonly environment: NodeJS.ProcessEnv;
  readonly host: string;
  config(): Config;
  jobSetId(): string;
  /** The store of the moment, null while there is none. */
  store(): Store | null;
  /** Null without a `state` section. */
  journal(): Journal | null;
  slots(): ClusterSlots | null;
  pools(): PoolControl | null;
  tally(): Promise<JobTally>;
  /** Null while no DAG was ever configured. */
  dags(): DagControl | null;
  push(): Push | null;
  isDraining(): boolean;
  /** `POST /shutdown` was answered. */
  shutDown(by: string): void;
}

/** The `web` section in force. */
export interface WebSection {
  /** Takes the configuration in force. Trouble with it is logged and tried again; it never stops jobs (http 1.2). Never rejects. */
  apply(config: Config): Promise<void>;
  /** Once a minute: changed certificates and tokens, addresses that could not be bound. */
  check(): void;
  stop(): Promise<void>;
}

/** Serves the control API as the configuration says. Nothing of it is loaded before the first `web` section. */
export function webSection(parts: WebSectionParts): WebSection {
  const { clock, logs, events, host } = parts;
  const log = logs("cronstable");
  let web: Promise<{ apply(config: Config): Promise<void>; web: Web }> | null = null;

  const load = async (config: Config): Promise<{ apply(config: Config): Promise<void>; web: Web }> => {
    const [{ startWeb }, { createMetrics }, { createControlPlane }, { nodeUsage }, inspection, pushControl, tally] =
      await Promise.all([
        import("../http/web.ts"),
        import("../metrics/metrics.ts"),
        import("./control-plane.ts"),
        import("../platform/node-usage.ts"),
        import("./state-inspection.ts"),
        import("./push-control.ts"),
        parts.tally(),
      ]);
    const { store } = parts;
    const state = inspection.createStateInspection({
      clock,
      store,
      jobSetId: parts.jobSetId,
      host,
      node: () => heldHere(control, parts.slots()),
    });
    const control: ControlPlane = createControlPlane({
      ...parts,
      hostName: host,
      nodeUsage: nodeUsage(clock),
      trendBook: () => parts.journal()?.trends ?? null,
      archive: () => parts.journal()?.archive ?? null,
      dags: parts.dags,
      cluster: () => null,
      pools: parts.pools,
      state: () => (parts.config().state === null ? null : state),
      push() {
        const push = parts.push();
        return push === null ? null : pushControl.createPushControl(push, log);
      },
      slot: (job) => parts.slots()?.state(job) ?? null,
      owner: () => null,
    });
    const metrics = createMetrics({
      control,
      events,
      log,
      startedAt: clock.wallNow(),
      store() {
        const opened = store();
        return opened === null ? null : { facts: opened.facts, counters: opened.counters() };
      },
      tally,
      droppedWrites: () => parts.journal()?.drops.counts() ?? {},
    });
    const settings = ({ web: section }: Config) => {
      metrics.setDurationBuckets(section?.metrics?.durationBuckets ?? null);
      return { config: section, mcp: null };
    };
    const started = await startWeb(settings(config), {
      control,
      clock,
      log,
      accessLog: logs("aiohttp.access"),
      environment: parts.environment,
      metrics,
      ui: null,
    });
    return { apply: (next) => started.apply(settings(next)), web: started };
  };

  const failed = (error: unknown): void => {
    log.error(
      `web: the API could not be started, jobs run without it: ${error instanceof Error ? error.message : String(error)}`,
    );
  };

  return {
    async apply(config) {
      if (web === null && config.web === null) return;
      try {
        if (web === null) {
          web = load(config);
          await web;
        } else await (await web).apply(config);
      } catch (error) {
        failed(error);
      }
    },
    check: () => void web?.then((loaded) => loaded.web.check()).catch(failed),
    async stop() {
      await (await web?.catch(() => null))?.web.stop();
    },
  };
}

/** Retries that wait on this node, and cluster slots it holds. */
function heldHere(control: ControlPlane, slots: ClusterSlots | null): ReturnType<StateInspectionParts["node"]> {
  const retries = [];
  for (const { config, retry } of control.jobs()) {
    if (retry === null) continue;
    const { attempt, dueAt, delaySeconds } = retry;
    retries.push({ job: config.name, attempt, nextRetryAt: isoInstant(dueAt), delaySeconds });
  }
  const held = slots?.held() ?? [];
  return {
    retries,
    slots: held.map(({ lease: { name, holder, fence, expiresAtSeconds }, refs }) => ({
      slot: name,
      holder,
      fence,
      expiresAt: expiresAtSeconds,
      refs,
    })),
  };
}

import type { Config } from "../config/model.ts";
import type { DagControl } from "../contract/dag-control.ts";
import type { Events } from "../contract/events.ts";
import type { Launcher } from "../contract/launcher.ts";
import type { Logger } from "../contract/log.ts";
import type { Reporting } from "../contract/report.ts";
import { standaloneGate } from "../dag/cluster-gate.ts";
import type { createDagControl } from "../dag/dag-control.ts";
import type { createDagEngine, DagEngine } from "../dag/engine.ts";
import type { LiveTask } from "../dag/task-runs.ts";
import type { Processes } from "../journal/inflight/inflight.ts";
import type { DaemonProcess } from "../journal/inflight/inflight-record.ts";
import type { Clock } from "../platform/clock.ts";
import type { PoolHost } from "../scheduler/pool-line.ts";
import type { PoolQueues } from "../scheduler/pool-queue.ts";
import type { Store } from "../store/store.ts";
import { noTasks } from "./pool-hosts.ts";

export interface DagSectionParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly launcher: Launcher;
  readonly reporting: Reporting;
  readonly events: Events;
  readonly self: DaemonProcess;
  /** The store of the moment, null while there is none. */
  store(): Store | null;
  /** The queues of pools, null without a `state` section. */
  pools(): PoolQueues | null;
  /** In force now. */
  config(): Config;
  readonly randomHex: (bytes: number) => string;
  /** What the engine is made of. Asked with the first DAG. */
  loadEngine(): Promise<DagEngineCode>;
}

export interface DagEngineCode {
  readonly createDagEngine: typeof createDagEngine;
  readonly createDagControl: typeof createDagControl;
  /** What lives on this machine. */
  readonly processes: Processes;
}

/** The engine's code, and the machine the daemon runs on. Nothing of either is loaded before it is asked for. */
export async function loadDagEngine(clock: Clock): Promise<DagEngineCode> {
  const [{ createDagEngine }, { createDagControl }, { systemProcesses }] = await Promise.all([
    import("../dag/engine.ts"),
    import("../dag/dag-control.ts"),
    import("../journal/inflight/system-processes.ts"),
  ]);
  return { createDagEngine, createDagControl, processes: systemProcesses(clock) };
}

/** The `dags` in force. Nothing of the engine is loaded before the first of them (D-INT-1). */
export interface DagSection {
  /** Takes the configuration in force. Never rejects. */
  apply(): Promise<void>;
  /** The store has come up, or is going. */
  storeChanged(): void;
  /** Null while no DAG was ever configured. */
  control(): DagControl | null;
  owns(dag: string, runKey: string): boolean;
  /** What becomes of tasks in the queues of pools. */
  readonly poolHost: PoolHost;
  /** Tasks that live on this node now. */
  running(): readonly LiveTask[];
  /** Starts no task any more. Resolves when all have ended, how is stored, and the runs are given back. */
  stop(): Promise<void>;
}

export function dagSection(parts: DagSectionParts): DagSection {
  const { log, self } = parts;
  let made: Promise<{ engine: DagEngine; control: DagControl }> | null = null;
  let running: { readonly engine: DagEngine; readonly control: DagControl } | null = null;
  let stopped: Promise<void> | null = null;
  const host = (): PoolHost => running?.engine.poolHost ?? noTasks;

  const load = async (): Promise<{ engine: DagEngine; control: DagControl }> => {
    const { createDagEngine, createDagControl, processes } = await parts.loadEngine();
    const engine = createDagEngine({
      ...parts,
      ...self,
      processes,
      gate: standaloneGate,
      random: () => Number.parseInt(parts.randomHex(6), 16) / 2 ** 48,
    });
    return { engine, control: createDagControl({ ...parts, engine, holder: `${self.host}#${self.proc}` }) };
  };

  return {
    async apply() {
      if (made === null && parts.config().dags.length === 0) return;
      try {
        if (made === null) {
          made = load();
          const loaded = await made;
          if (stopped !== null) return;
          running = loaded;
          loaded.engine.start(parts.config());
        } else running?.engine.apply(parts.config());
      } catch (error) {
        log.error(`dags: the engine could not be started: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
    storeChanged: () => running?.engine.storeChanged(),
    control: () => running?.control ?? null,
    owns: (dag, runKey) => running?.engine.owns(dag, runKey) ?? false,
    poolHost: {
      facts: (entry) => host().facts(entry),
      admitted: (pool, entry, ladderEnded) => host().admitted(pool, entry, ladderEnded),
      lost: (pool, entry) => host().lost(pool, entry),
      left: (pool, entry) => host().left(pool, entry),
    },
    running: () => running?.engine.running() ?? [],
    stop() {
      stopped ??= running?.engine.stop() ?? Promise.resolve();
      return stopped;
    },
  };
}

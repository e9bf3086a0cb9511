import type { Config } from "../../../src/config/model.ts";
import type { DagControl } from "../../../src/contract/dag-control.ts";
import type { Launcher, LaunchRequest, RunEvent } from "../../../src/contract/launcher.ts";
import type { ReportFacts } from "../../../src/contract/report.ts";
import type { RunResult, StopCause } from "../../../src/contract/run.ts";
import { createEvents } from "../../../src/daemon/event-bus.ts";
import { type ClusterGate, standaloneGate } from "../../../src/dag/cluster-gate.ts";
import { createDagControl } from "../../../src/dag/dag-control.ts";
import { createDagEngine, type DagEngine } from "../../../src/dag/engine.ts";
import type { RunDocument, TaskRecord } from "../../../src/dag/run-document.ts";
import { decodeRun } from "../../../src/dag/run-document-codec.ts";
import { liveOutput } from "../../../src/execution/capture/live-output.ts";
import { createLockTrust } from "../../../src/journal/lock-trust.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import { type SimulatedClock, settled, simulatedClock } from "../../../src/platform/simulated-clock.ts";
import { createPoolQueues, type PoolQueues } from "../../../src/scheduler/pool-queue.ts";
import { decodeEnvelope } from "../../../src/store/envelope.ts";
import type { Conduct } from "../../../src/store/front/in-thread.ts";
import { type MemoryMedium, memoryMedium } from "../../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../../src/store/memory/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { configOf } from "../../config/loading.ts";
import { type LogLines, logLines } from "../../support/log-lines.ts";

/** What a pretended command does: how it ends, after how many seconds, and what it publishes first. */
export interface Play {
  readonly exitCode?: number;
  readonly seconds?: number;
  /** XCom under the task's own key. */
  readonly push?: Readonly<Record<string, string>>;
  readonly result?: Partial<RunResult>;
}

export type Commands = Readonly<Record<string, (launch: Launched, run: number) => Play>>;

export interface Launched {
  readonly node: string;
  readonly at: number;
  /** `HH:MM:SS` */
  readonly time: string;
  readonly taskKey: string;
  readonly runKey: string;
  readonly pid: number;
  readonly request: LaunchRequest;
  readonly cancelled: boolean;
}

export interface FleetNode {
  readonly name: string;
  readonly engine: DagEngine;
  readonly control: DagControl;
  readonly logged: LogLines;
  readonly store: Store;
  readonly pools: PoolQueues;
  readonly reports: ReportFacts[];
  /** How its store behaves from now on. */
  conduct: (operation: string) => Conduct;
  /** Spawns wait while this is set, as behind the spawn gate. */
  holdSpawns: boolean;
  releaseSpawns(): void;
  apply(yaml: string): void;
  /** Another store on another medium, or none; as after a reload of the `state` section. */
  useStore(medium: MemoryMedium | null): void;
  /** kill -9: nothing of it happens any more; its processes live on unless told otherwise. */
  crash(processes?: "die" | "live"): void;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
}

export interface Fleet {
  readonly clock: SimulatedClock;
  readonly medium: MemoryMedium;
  readonly launched: Launched[];
  start(
    name: string,
    options?: {
      readonly yaml?: string;
      readonly host?: string;
      readonly store?: boolean;
      /** By default every node may create scheduled runs. */
      readonly gate?: ClusterGate;
    },
  ): FleetNode;
  /** Lets time pass up to `HH:MM:SS` of the start's day, or for so many seconds. */
  until(time: string | number): Promise<void>;
  keys(dag: string): string[];
  run(dag: string, runKey?: string): RunDocument;
  task(dag: string, taskKey: string, runKey?: string): TaskRecord;
  /** `taskKey state` of each task, sorted. */
  states(dag: string, runKey?: string): string;
  /** Launches as `HH:MM:SS node taskKey`. */
  transcript(): string;
  lease(dag: string, runKey: string): { holder: string; expiresAtSeconds: number; fence: number } | null;
}

/** A configuration with a store section around these `dags:`. */
function dagConfig(yaml: string): Config {
  return configOf(`state:\n  path: /nowhere\n${yaml}`);
}

/** Engines of several nodes on one store in memory, on virtual time, with commands that only pretend. */
export function startFleet(options: {
  readonly at: string;
  readonly yaml: string;
  readonly commands?: Commands;
}): Fleet {
  const clock = simulatedClock(Date.parse(options.at));
  const medium = memoryMedium();
  const launched: Launched[] = [];
  const runsOf = new Map<string, number>();
  const living = new Map<number, () => void>();
  let nextPid = 1000;
  let nextHex = 1;

  const run = (dag: string, runKey = onlyKey(dag)): RunDocument => {
    const text = medium.documents.get(`dagrun/${dag}`)?.get(runKey);
    const envelope = text === undefined ? null : decodeEnvelope(text);
    const decoded = envelope?.kind === "current" ? decodeRun(envelope.data) : null;
    if (decoded?.kind !== "run") throw new Error(`no run ${runKey} of ${dag}`);
    return decoded.run;
  };
  const keys = (dag: string): string[] => [...(medium.documents.get(`dagrun/${dag}`)?.keys() ?? [])].sort();
  const onlyKey = (dag: string): string => {
    const [key, ...others] = keys(dag);
    if (key === undefined || others.length > 0)
      throw new Error(`expected one run of ${dag}, found ${others.length + 1}`);
    return key;
  };

  const randomHex = (bytes: number): string => (nextHex++).toString(16).padStart(bytes * 2, "0");

  const startNode: Fleet["start"] = (
    name,
    { yaml = options.yaml, host = name, store: hasStore = true, gate = standaloneGate } = {},
  ) => {
    let dead = false;
    let frozen = false;
    let deferred: (() => void)[] = [];
    const waitingSpawns: (() => void)[] = [];
    const guarded = (work: () => void) => (): void => {
      if (dead) return;
      if (frozen) deferred.push(work);
      else work();
    };
    const nodeClock: Clock = {
      wallNow: clock.wallNow,
      elapsedNow: clock.elapsedNow,
      after(delayMs, work) {
        let cancelled = false;
        const cancel = clock.after(
          delayMs,
          guarded(() => !cancelled && work()),
        );
        return () => {
          cancelled = true;
          cancel();
        };
      },
    };
    const logged = logLines();
    const reports: ReportFacts[] = [];
    const proc = String(nextHex++).padStart(12, "0");
    const open = (on: MemoryMedium): Store =>
      openMemoryStore({
        medium: on,
        clock: nodeClock,
        writer: String(nextHex++).padStart(12, "0"),
        conduct: (operation) => (dead ? { kind: "silent", lands: false } : node.conduct(operation)),
      });
    let store: Store | null = hasStore ? open(medium) : null;

    const launcher: Launcher = {
      launch(request, onEvent) {
        const output = liveOutput(clock);
        const environment = request.injectedEnvironment;
        const pid = nextPid++;
        const entry = {
          node: name,
          at: clock.wallNow(),
          time: timeOf(clock.wallNow()),
          taskKey: environment.CRONSTABLE_DAG_TASKKEY ?? "",
          runKey: environment.CRONSTABLE_DAG_RUN_KEY ?? "",
          pid,
          request,
          cancelled: false,
        };
        let phase: "waiting" | "running" | "ended" = "waiting";
        let stopped: StopCause | null = null;
        const tell = (event: RunEvent): void => guarded(() => onEvent(event))();
        const finish = (result: Partial<RunResult>): void => {
          if (phase === "ended") return;
          phase = "ended";
          living.delete(pid);
          output.end();
          tell({ kind: "finished", result: resultOf(clock, { stopped, ...result }) });
        };
        const spawn = (): void => {
          if (phase !== "waiting" || dead) return;
          phase = "running";
          launched.push(entry);
          living.set(pid, () => finish({ exitCode: -9, failReason: "killed" }));
          tell({ kind: "spawned", pid, startedAt: clock.wallNow() });
          const command = String(request.job.command);
          const count = runsOf.get(`${entry.runKey} ${entry.taskKey}`) ?? 0;
          runsOf.set(`${entry.runKey} ${entry.taskKey}`, count + 1);
          const {
            exitCode = 0,
            seconds = 0,
            push = {},
            result = {},
          } = options.commands?.[command]?.(entry, count) ?? {};
          const failReason = exitCode === 0 ? null : `command exited with code ${exitCode}`;
          clock.after(seconds * 1000, () => {
            if (phase === "ended") return;
            void publish(request, entry.taskKey, push).then(() => finish({ exitCode, failReason, ...result }));
          });
        };
        const begin = guarded(() => {
          if (node.holdSpawns) waitingSpawns.push(spawn);
          else spawn();
        });
        clock.after(0, begin);
        return {
          stop(cause) {
            stopped ??= cause;
            if (phase === "waiting") {
              phase = "running";
              clock.after(0, () => {
                tell({ kind: "spawned", pid: null, startedAt: clock.wallNow() });
                finish({ exitCode: -15 });
              });
            } else clock.after(0, () => finish({ exitCode: -15 }));
          },
          output: output.output,
          resourcesNow: () => null,
        };
      },
    };

    /** As `cronstable xcom push` does it, by a command of its own. */
    const publish = async (
      { stateScope = "" }: LaunchRequest,
      taskKey: string,
      push: Readonly<Record<string, string>>,
    ): Promise<void> => {
      const direct = openMemoryStore({ medium, clock, writer: String(nextHex++).padStart(12, "0") });
      for (const [key, text] of Object.entries(push)) {
        const bytes = new TextEncoder().encode(text);
        const sha256 = await direct.blobs.put(bytes);
        if (sha256.kind !== "done") throw new Error("no blob");
        const data = {
          at: clock.wallNow() / 1000 + 0.5,
          name: `${taskKey}/${key}`,
          sha256: sha256.value,
          size: bytes.length,
        };
        await direct.records.publish(`artifacts/${stateScope}`, "name", data);
      }
    };

    const backend = (): Store | null => store;
    const queues = createPoolQueues({
      self: { host, proc },
      backend,
      locks: createLockTrust({ backend, log: logged.log }),
      host: {
        facts: (entry) => engine.poolHost.facts(entry),
        admitted: (pool, entry, ladderEnded) => engine.poolHost.admitted(pool, entry, ladderEnded),
        lost: (pool, entry) => engine.poolHost.lost(pool, entry),
        left: (pool, entry) => engine.poolHost.left(pool, entry),
      },
      clock: nodeClock,
      log: logged.log,
    });
    const engine = createDagEngine({
      clock: nodeClock,
      log: logged.log,
      launcher,
      reporting: {
        wouldAct: (block) => block.shell.command !== null,
        report: async (_block, facts) => void reports.push(facts),
      },
      events: createEvents(logged.log),
      processes: {
        look: (pid) =>
          living.has(pid) ? { kind: "exists", startedAt: null, identity: `boot/${pid}` } : { kind: "gone" },
      },
      gate,
      host,
      proc,
      store: () => store,
      pools: () => queues,
      randomHex,
      random: () => 0.5,
    });
    const node: FleetNode = {
      name,
      engine,
      control: createDagControl({ engine, clock: nodeClock, log: logged.log, holder: `${host}#${proc}`, randomHex }),
      logged,
      get store() {
        if (store === null) throw new Error("no store");
        return store;
      },
      reports,
      conduct: () => ({ kind: "answer" }),
      holdSpawns: false,
      releaseSpawns() {
        node.holdSpawns = false;
        for (const spawn of waitingSpawns.splice(0)) spawn();
      },
      pools: queues,
      apply(next) {
        const config = dagConfig(next);
        engine.apply(config);
        queues.configure(config.pools);
      },
      useStore(on) {
        void store?.close(0);
        store = on === null ? null : open(on);
        engine.storeChanged();
      },
      crash(processes = "die") {
        dead = true;
        if (processes === "die") for (const own of launched.filter((one) => one.node === name)) living.get(own.pid)?.();
      },
      freeze() {
        frozen = true;
      },
      thaw() {
        frozen = false;
        for (const work of deferred.splice(0)) work();
        deferred = [];
      },
    };
    const config = dagConfig(yaml);
    queues.configure(config.pools);
    engine.start(config);
    return node;
  };

  return {
    clock,
    medium,
    launched,
    start: startNode,
    async until(time) {
      const day = new Date(clock.wallNow()).toISOString().slice(0, 11);
      await clock.runUntilSettled(
        typeof time === "number" ? clock.wallNow() + time * 1000 : Date.parse(`${day}${time}Z`),
      );
      await settled();
    },
    keys,
    run,
    task(dag, taskKey, runKey) {
      const record = run(dag, runKey).tasks.get(taskKey);
      if (record === undefined) throw new Error(`no task ${taskKey} in ${dag}`);
      return record;
    },
    states(dag, runKey) {
      const found = run(dag, runKey);
      const tasks = [...found.tasks].sort(([a], [b]) => (a < b ? -1 : 1));
      return `${found.state}: ${tasks.map(([key, { state }]) => `${key} ${state}`).join(", ")}`;
    },
    transcript: () => launched.map(({ time, node, taskKey }) => `${time} ${node} ${taskKey}`).join("\n"),
    lease: (dag, runKey) => medium.leases.get(`dagadvance/${dag}/${runKey}`)?.lease ?? null,
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

function resultOf(clock: Clock, over: Partial<RunResult>): RunResult {
  const now = clock.wallNow();
  return {
    startedAt: now,
    endedAt: now,
    finishedAt: now,
    exitCode: 0,
    launchError: null,
    stopped: null,
    stdout: null,
    stderr: null,
    environment: null,
    failReason: null,
    verification: null,
    resources: null,
    limits: null,
    ...over,
  };
}

import type { Config, JobConfig } from "../config/model.ts";
import type { ClusterControl } from "../contract/cluster-control.ts";
import type { ControlPlane, RunOutput } from "../contract/control-plane.ts";
import type { DagControl } from "../contract/dag-control.ts";
import type { Events } from "../contract/events.ts";
import type { HistoryRow } from "../contract/history.ts";
import type { ClusterSlot, JobInstance, JobOwner, JobView, PendingRetry } from "../contract/job-view.ts";
import type { PoolControl } from "../contract/pool-control.ts";
import type { PushControl } from "../contract/push-control.ts";
import type { StateInspection } from "../contract/state-inspection.ts";
import type { OutputArchive } from "../journal/archive/archive.ts";
import { trendWindows } from "../journal/ledger/run-stats.rules.ts";
import type { TrendBook } from "../journal/ledger/trends.ts";
import type { Clock } from "../platform/clock.ts";
import type { NodeUsage } from "../platform/node-usage.ts";
import type { JobLook } from "../scheduler/active-job.ts";
import { decidePause, pauseInForce, pauseRequestFrom, resumeRequestFrom } from "../scheduler/pause.rules.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";

export interface ControlPlaneParts {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly events: Pick<Events, "on">;
  /** In force now. */
  config(): Config;
  jobSetId(): string;
  /** The host's name; a cluster's node name wins over it. */
  readonly hostName: string;
  isDraining(): boolean;
  shutDown(by: string): void;
  nodeUsage(): NodeUsage | null;
  /** Parts that may be off; null then. */
  trendBook(): TrendBook | null;
  archive(): Pick<OutputArchive, "newest"> | null;
  dags(): DagControl | null;
  cluster(): ClusterControl | null;
  pools(): PoolControl | null;
  state(): StateInspection | null;
  push(): PushControl | null;
  /** The cluster slot of a job as this node sees it; null while nobody is known to hold it. */
  slot(job: string): ClusterSlot | null;
  /** Null where no leader is elected. */
  owner(job: string): JobOwner | null;
}

/** Where phones are paired when no relay of one's own is configured (http 7.1). */
const PUBLIC_PAIR_LINK = "https://relay.cronstable.com/pair";

/** Archived runs looked through for one of them: as many as the history keeps. */
const ARCHIVE_RECORDS_READ = 50;

/** What surfaces may ask of this daemon, answered by the scheduler and the parts that run. */
export function createControlPlane(parts: ControlPlaneParts): ControlPlane {
  const { clock, scheduler, events } = parts;
  let revision = 0;
  const changed = (): void => {
    revision++;
  };
  for (const name of ["run.launched", "run.finished", "run.refused", "config.applied"] as const)
    events.on(name, changed);

  const jobsByName = byName(parts.config);
  const view = (config: JobConfig): JobView => viewOf(config, false, parts);

  /** A job that is configured no more and still runs (F29). */
  const removed = (name: string): JobView | null => {
    const [run] = scheduler.look(name)?.state.runs.values() ?? [];
    return run === undefined ? null : viewOf(run.job, true, parts);
  };

  const outputOf = (look: JobLook): RunOutput | null => {
    const newest = [...look.live].at(-1);
    if (newest !== undefined) return { runId: newest[0], lines: newest[1].run.output };
    return look.lastOutput === null ? null : { runId: look.lastOutput.runId, lines: look.lastOutput.output };
  };

  return {
    nodeName: () => parts.config().cluster?.nodeName ?? parts.hostName,
    jobSetId: parts.jobSetId,
    isDraining: parts.isDraining,
    shutDown: parts.shutDown,
    get revision() {
      return revision;
    },
    get jobCount() {
      return parts.config().jobs.length;
    },
    *jobs() {
      for (const config of parts.config().jobs) yield view(config);
    },
    *removedJobs() {
      const seen = new Set<string>();
      for (const { name } of scheduler.running()) {
        const left = jobsByName(name) === null && !seen.has(name) ? removed(name) : null;
        seen.add(name);
        if (left !== null) yield left;
      }
    },
    job(name) {
      const config = jobsByName(name);
      return config === null ? removed(name) : view(config);
    },
    output(name) {
      const look = scheduler.look(name);
      return look === null ? null : outputOf(look);
    },
    runOutput(name, runId) {
      const look = scheduler.look(name);
      const live = look?.live.get(runId);
      if (live !== undefined) return { runId, lines: live.run.output };
      return look?.lastOutput?.runId === runId ? { runId, lines: look.lastOutput.output } : null;
    },
    get archivesOutput() {
      return parts.archive() !== null;
    },
    async archivedOutput(name, finishedAt) {
      const found = await parts.archive()?.newest(name, ARCHIVE_RECORDS_READ);
      if (found?.kind !== "done") return null;
      return found.value.find((archived) => archived.finishedAt === finishedAt) ?? null;
    },
    async trends(name) {
      if (jobsByName(name) === null) return null;
      const rows = (): readonly HistoryRow[] => scheduler.history(name)?.rows ?? [];
      const book = parts.trendBook();
      if (book !== null) return book.of(name, rows);
      const generatedAt = clock.wallNow();
      return { source: "memory", generatedAt, windows: trendWindows(rows(), generatedAt) };
    },
    startJob: (name, by) => scheduler.startJob(name, by),
    cancelJob: (name) => scheduler.cancelJob(name),
    async pauseJob(name, fields, channel) {
      const request = pauseRequestFrom(fields);
      if (request.kind === "bad") return { kind: "invalid", error: request.error };
      if (jobsByName(name) === null) return { kind: "unknown job" };
      const decided = decidePause(request.value, channel, clock.wallNow());
      if (decided.kind === "bad") return { kind: "invalid", error: decided.error };
      scheduler.pauseJob(name, decided.value);
      changed();
      return { kind: "paused", pause: decided.value };
    },
    async resumeJob(name, fields, channel) {
      const request = resumeRequestFrom(fields);
      if (request.kind === "bad") return { kind: "invalid", error: request.error };
      if (!scheduler.resumeJob(name, request.value.by, channel)) return { kind: "unknown job" };
      changed();
      return { kind: "resumed" };
    },
    dagConfigs: () => parts.config().dags,
    get dags() {
      return parts.dags();
    },
    get cluster() {
      return parts.cluster();
    },
    get pools() {
      return parts.pools();
    },
    get state() {
      return parts.state();
    },
    get push() {
      return parts.push();
    },
    pairLinkBase: () => pairLink(parts.config().push?.relay.url ?? null),
    nodeUsage: parts.nodeUsage,
  };
}

/** Looks jobs up by name, in an index made once per configuration. */
function byName(config: () => Config): (name: string) => JobConfig | null {
  let indexed: readonly JobConfig[] | null = null;
  let index = new Map<string, JobConfig>();
  return (name) => {
    const { jobs } = config();
    if (jobs !== indexed) {
      indexed = jobs;
      index = new Map(jobs.map((job) => [job.name, job]));
    }
    return index.get(name) ?? null;
  };
}

const noRows: readonly HistoryRow[] = [];
const freeSlot: ClusterSlot = { held: false, holder: null, refs: 0 };

function viewOf(config: JobConfig, isRemoved: boolean, parts: ControlPlaneParts): JobView {
  const { clock, scheduler } = parts;
  const { name } = config;
  const look = scheduler.look(name);
  const rows = look?.history.rows ?? noRows;
  return {
    config,
    isRemoved,
    instances: look === null ? [] : instancesOf(look),
    nextFireAt: config.enabled && config.timing.kind === "timetable" ? scheduler.nextFire(name) : null,
    neverFires: scheduler.neverFires(name),
    rows,
    lastRow: look?.history.lastRow ?? null,
    pause: look === null ? null : pauseInForce(look.state.pause, clock.wallNow()),
    retry: look === null ? null : retryOf(look),
    sla: scheduler.sla(name),
    rebootPending: look?.state.bootPending ?? false,
    slot: config.concurrencyScope === "cluster" ? (parts.slot(name) ?? freeSlot) : null,
    owner: parts.owner(name),
  };
}

function instancesOf({ live }: JobLook): JobInstance[] {
  return Array.from(live, ([runId, { run, trigger, spawned }]) => ({
    runId,
    trigger,
    pid: spawned?.pid ?? null,
    startedAt: spawned?.startedAt ?? null,
    resources: run.resourcesNow(),
  }));
}

/** The armed retry of a ladder that lives; while that attempt runs, the instant it was due at stays. */
function retryOf({ state: { ladder }, armedRetry }: JobLook): PendingRetry | null {
  return ladder !== null && armedRetry?.ladderId === ladder.id ? armedRetry : null;
}

function pairLink(relayUrl: string | null): string {
  if (relayUrl === null || !URL.canParse(relayUrl)) return PUBLIC_PAIR_LINK;
  const { protocol, host } = new URL(relayUrl);
  return `${protocol}//${host}/pair`;
}

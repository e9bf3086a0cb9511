import type { ClusterFigures, PeerStatus } from "../contract/cluster-control.ts";
import type { ControlPlane } from "../contract/control-plane.ts";
import type { Events } from "../contract/events.ts";
import type { JobView } from "../contract/job-view.ts";
import type { Logger } from "../contract/log.ts";
import { version } from "../contract/version.ts";
import { peerStatuses } from "../contract/wire/cluster.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { Sliced } from "../schedule/fleet.ts";
import { compareCodePoints } from "../store/json.ts";
import type { StoreCounters, StoreFacts } from "../store/store.ts";
import { createDagTally } from "./dag-counters.ts";
import {
  boundText,
  type ExpositionFormat,
  type FamilyText,
  familyText,
  labelSet,
  labelText,
  sampleText,
} from "./exposition.ts";
import { type FamilyName, families } from "./families.ts";
import { type Counted, defaultBounds, type JobTally } from "./job-counters.ts";

/** The exposition, on demand. */
export interface MetricsText {
  /** Work in slices: many jobs make much text. */
  render(format: ExpositionFormat): Sliced<Buffer>;
}

/** All that is counted, from the daemon's start to its end. */
export interface Metrics extends MetricsText {
  /** Null for the usual bounds. */
  setDurationBuckets(bounds: readonly number[] | null): void;
  /** The look at the cluster once a minute. */
  minute(): void;
}

export interface MetricsParts {
  readonly control: Pick<ControlPlane, "jobs" | "job" | "jobSetId" | "cluster" | "dagConfigs" | "dags">;
  readonly events: Pick<Events, "on">;
  readonly log: Pick<Logger, "warning">;
  /** What is counted of jobs, from the daemon's start. */
  readonly tally: JobTally;
  readonly startedAt: EpochMs;
  /** Null without a store that runs. In-memory numbers; may throw, then the store's families are left out of one scrape. */
  store(): { readonly facts: StoreFacts; readonly counters: StoreCounters } | null;
  /** Lost writes by kind, store or no store. */
  droppedWrites(): Readonly<Record<string, number>>;
}

/** Subscribes to what happens; make it before anything does. */
export function createMetrics(parts: MetricsParts): Metrics {
  const { control, events, startedAt, tally } = parts;
  const dagTally = createDagTally(events);
  const transitions = { leader: 0, quorum: 0, wasLeader: false, wasQuorate: false };
  let reload: { readonly successful: boolean; readonly lastSuccessAt: EpochMs | null } | null = null;
  const isConfigured = (job: string): boolean => control.job(job) !== null;

  events.on("config.applied", ({ at }) => {
    reload = { successful: true, lastSuccessAt: at };
    tally.prune(isConfigured);
  });
  events.on("config.refused", () => {
    reload = { successful: false, lastSuccessAt: reload?.lastSuccessAt ?? null };
  });

  function* render(format: ExpositionFormat): Sliced<Buffer> {
    const texts = new Map<FamilyName, FamilyText>();
    const of = (name: FamilyName): FamilyText => {
      let text = texts.get(name);
      if (text === undefined) {
        text = familyText(families[name], format);
        texts.set(name, text);
      }
      return text;
    };
    of("info").sample(labelSet(["version", version]), 1);
    of("startTime").sample("", startedAt / 1000);
    of("jobSet").sample(labelSet(["job_set_id", control.jobSetId()]), 1);
    if (reload !== null) {
      of("reloadSuccessful").sample("", reload.successful ? 1 : 0);
      if (reload.lastSuccessAt !== null) of("reloadTime").sample("", reload.lastSuccessAt / 1000);
    }
    yield* jobFamilies(of, control, tally);
    dagTally.samples(
      of,
      control.dagConfigs().map(({ name }) => name),
      control.dags?.figures() ?? [],
    );
    storeFamilies(of, parts);
    clusterFamilies(of, control.cluster === null ? null : figuresOf(parts), control.cluster !== null, transitions);
    const order = Object.keys(families) as FamilyName[];
    const body = order.flatMap((name) => texts.get(name)?.chunks() ?? []);
    return Buffer.concat(format === "openmetrics" ? [...body, endOfOpenMetrics] : body);
  }

  return {
    render,
    setDurationBuckets: (bounds) => tally.setBounds(bounds ?? defaultBounds),
    minute() {
      const figures = figuresOf(parts);
      const [isLeader, quorate] = [figures?.isLeader ?? false, figures?.quorate ?? false];
      if (isLeader !== transitions.wasLeader) transitions.leader++;
      if (quorate !== transitions.wasQuorate) transitions.quorum++;
      transitions.wasLeader = isLeader;
      transitions.wasQuorate = quorate;
    },
  };
}

const endOfOpenMetrics = Buffer.from("# EOF\n");

type Of = (name: FamilyName) => FamilyText;

/** Live families follow the configuration; what was counted goes by name, removed jobs that still run included. */
function* jobFamilies(of: Of, control: MetricsParts["control"], tally: JobTally): Sliced<void> {
  const sorted: { readonly name: string; readonly view: JobView | null }[] = [];
  const states = { enabled: 0, disabled: 0 };
  const configured = new Set<string>();
  for (const view of control.jobs()) {
    states[view.config.enabled ? "enabled" : "disabled"]++;
    configured.add(view.config.name);
    sorted.push({ name: view.config.name, view });
    liveSamples(of, view);
    yield;
  }
  of("jobs").sample(labelSet(["state", "enabled"]), states.enabled);
  of("jobs").sample(labelSet(["state", "disabled"]), states.disabled);
  for (const name of tally.names()) if (!configured.has(name)) sorted.push({ name, view: null });
  sorted.sort((a, b) => compareCodePoints(a.name, b.name));
  for (const { name, view } of sorted) {
    countedSamples(of, name, view, tally);
    yield;
  }
}

const statuses = ["success", "failure", "cancelled", "skipped"] as const;
const checks = ["lateAfter", "maxRuntime", "maxTimeSinceSuccess"] as const;

function countedSamples(of: Of, name: string, view: JobView | null, tally: JobTally): void {
  const counted = tally.counted(name);
  for (const [family, text] of countedTexts(name, counted, tally.bounds)) of(family).samples(text);
  const own = jobLabel(name);
  const sla = view?.sla ?? null;
  for (const check of checks) {
    const breaches = counted.slaBreaches[check];
    const isWatched = sla !== null && `${check}Seconds` in sla.thresholds;
    if (breaches === undefined && !isWatched) continue;
    const labels = labelSet(["job_name", name], ["check", check]);
    of("slaBreaches").sample(labels, breaches ?? 0);
    if (isWatched) of("late").sample(labels, sla.breaches.some((breach) => breach.check === check) ? 1 : 0);
  }
  if (view !== null) of("paused").sample(own, view.pause === null ? 0 : 1);
}

type FamilyTexts = readonly (readonly [FamilyName, string])[];

const knownTexts = new WeakMap<Counted, { readonly version: number; readonly texts: FamilyTexts }>();

/** What was counted of a job, as text; made anew when something has been counted since. */
function countedTexts(name: string, counted: Counted, bounds: readonly number[]): FamilyTexts {
  if (counted.version === 0) return newTexts(name, counted, bounds); // nothing counted, and nobody keeps it
  const known = knownTexts.get(counted);
  if (known?.version === counted.version) return known.texts;
  const texts = newTexts(name, counted, bounds);
  knownTexts.set(counted, { version: counted.version, texts });
  return texts;
}

function newTexts(name: string, counted: Counted, bounds: readonly number[]): FamilyTexts {
  const job = labelText(name);
  const own = jobLabel(name);
  const texts: [FamilyName, string][] = [];
  const add = (
    family: FamilyName,
    ...samples: readonly (readonly [labels: string, value: number, ending?: string])[]
  ) =>
    texts.push([
      family,
      samples.map(([labels, value, ending = ""]) => sampleText(families[family].name + ending, labels, value)).join(""),
    ]);
  add(
    "runs",
    ...statuses.map((status) => [`{job_name="${job}",status="${status}"}`, counted.runs[status] ?? 0] as const),
  );
  add("retries", [own, counted.retries]);
  add("permanentFailures", [own, counted.permanentFailures]);
  add("startFailures", [own, counted.startFailures]);
  const { bucketCounts, sumSeconds, count } = counted.durations;
  const bucket = (le: string, value: number) => [`{job_name="${job}",le="${le}"}`, value, "_bucket"] as const;
  add(
    "duration",
    ...bounds.map((bound, index) => bucket(boundText(bound), bucketCounts[index] ?? 0)),
    bucket("+Inf", count),
    [own, sumSeconds, "_sum"],
    [own, count, "_count"],
  );
  if (counted.lastSuccessAt !== null) add("lastSuccess", [own, counted.lastSuccessAt / 1000]);
  if (counted.lastFailureAt !== null) add("lastFailure", [own, counted.lastFailureAt / 1000]);
  if (counted.cpuRuns > 0) {
    add(
      "cpu",
      [`{job_name="${job}",mode="user"}`, counted.cpuUserSeconds],
      [`{job_name="${job}",mode="system"}`, counted.cpuSystemSeconds],
    );
    add("peakRss", [own, counted.maxRssBytes]);
  }
  for (const [reason, refused] of [...counted.refused].sort(byKey))
    add("refused", [`{job_name="${job}",reason="${reason}"}`, refused]);
  return texts;
}

function jobLabel(name: string): string {
  return `{job_name="${labelText(name)}"}`;
}

function liveSamples(of: Of, { config, instances, nextFireAt, lastRow }: JobView): void {
  const own = jobLabel(config.name);
  const { scheduleText, clusterPolicy } = config;
  of("jobInfo").sample(
    labelSet(["job_name", config.name], ["schedule", scheduleText], ["cluster_policy", clusterPolicy]),
    1,
  );
  of("enabled").sample(own, config.enabled ? 1 : 0);
  of("running").sample(own, instances.length);
  if (nextFireAt !== null) of("nextRun").sample(own, nextFireAt / 1000);
  if (lastRow === null) return;
  of("lastRun").sample(own, (lastRow.kind === "interrupted" ? lastRow.interruptedAt : lastRow.finishedAt) / 1000);
  of("lastRunSuccess").sample(own, lastRow.kind === "ran" && lastRow.outcome === "success" ? 1 : 0);
  if (lastRow.kind !== "ran") return;
  if (lastRow.startedAt !== null) of("lastDuration").sample(own, (lastRow.finishedAt - lastRow.startedAt) / 1000);
  if (lastRow.exitCode !== null) of("lastExitCode").sample(own, lastRow.exitCode);
  if (lastRow.resources === null) return;
  of("lastCpu").sample(own, lastRow.resources.cpuUserSeconds + lastRow.resources.cpuSystemSeconds);
  of("lastRss").sample(own, lastRow.resources.maxRssBytes);
}

function storeFamilies(of: Of, { store, droppedWrites, log }: MetricsParts): void {
  for (const [kind, lost] of Object.entries(droppedWrites()).sort(byKey))
    if (lost > 0) of("droppedWrites").sample(labelSet(["kind", kind]), lost);
  let found: ReturnType<MetricsParts["store"]>;
  try {
    found = store();
  } catch (error) {
    log.warning(`metrics: the store's numbers are missing from this scrape: ${errorText(error)}`);
    return;
  }
  if (found === null) return;
  const { facts, counters } = found;
  of("store").sample(labelSet(["backend", facts.backend], ["topology", facts.topology]), 1);
  for (const [op, { finished, errors, seconds }] of Object.entries(counters.operations).sort(byKey)) {
    const labels = labelSet(["op", op]);
    of("storeOps").sample(labels, finished);
    of("storeErrors").sample(labels, errors);
    of("storeSeconds").sample(labels, seconds);
  }
  if (counters.lockAcquisitions > 0) {
    of("storeLocks").sample("", counters.lockAcquisitions);
    of("storeLockWait").sample("", counters.lockWaitSeconds);
  }
  if (counters.throttledOperations > 0) {
    of("throttled").sample("", counters.throttledOperations);
    of("throttleWait").sample("", counters.throttleWaitSeconds);
  }
  for (const lane of ["bulk", "lease"] as const) {
    const labels = labelSet(["lane", lane]);
    of("workersInflight").sample(labels, counters.lanes[lane].inflight);
    of("workersCapacity").sample(labels, counters.lanes[lane].capacity);
    of("workersPeak").sample(labels, counters.lanes[lane].peak);
  }
}

function figuresOf({ control, log }: MetricsParts): ClusterFigures | null {
  try {
    return control.cluster?.figures() ?? null;
  } catch (error) {
    log.warning(`metrics: the cluster's numbers are missing from this scrape: ${errorText(error)}`);
    return null;
  }
}

function clusterFamilies(
  of: Of,
  figures: ClusterFigures | null,
  isRunning: boolean,
  transitions: { readonly leader: number; readonly quorum: number },
): void {
  of("clusterEnabled").sample("", isRunning ? 1 : 0);
  const elects = figures?.electLeader ?? false;
  if (elects || transitions.leader > 0) of("leaderTransitions").sample("", transitions.leader);
  if (elects || transitions.quorum > 0) of("quorumTransitions").sample("", transitions.quorum);
  if (figures === null) return;
  const { backend, nodeName, distribution, leader, conflicts, peers } = figures;
  of("cluster").sample(labelSet(["backend", backend], ["node_name", nodeName], ["distribution", distribution]), 1);
  of("clusterSize").sample("", figures.size);
  of("clusterQuorum").sample("", figures.quorum);
  of("quorate").sample("", figures.quorate ? 1 : 0);
  of("isLeader").sample("", figures.isLeader ? 1 : 0);
  if (leader !== null) of("leader").sample(labelSet(["leader", leader]), 1);
  of("conflict").sample(labelSet(["kind", "nodename"]), conflicts.nodeName ? 1 : 0);
  of("conflict").sample(labelSet(["kind", "size"]), conflicts.size ? 1 : 0);
  of("conflict").sample(labelSet(["kind", "policy"]), conflicts.policy ? 1 : 0);
  if (peers !== null)
    for (const status of peerStatuses)
      of("peers").sample(labelSet(["status", status]), peers[status satisfies PeerStatus]);
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import type { DaemonEvents, Events } from "../contract/events.ts";
import type { LoggerNamed } from "../contract/log.ts";
import type { Statsd } from "../metrics/statsd.ts";
import type { Clock } from "../platform/clock.ts";

/** Statsd as jobs ask for it: nothing of it is loaded before the first run of a job that does (running 14). */
export function feedStatsd(events: Events, clock: Clock, log: LoggerNamed): { close(): Promise<void> } {
  let statsd: Promise<Statsd> | null = null;
  const wanted = (): Promise<Statsd> => {
    statsd ??= import("../metrics/statsd.ts").then(({ createStatsd }) => createStatsd({ clock, log }));
    return statsd;
  };
  const sending = new Set<Promise<void>>();

  const started = ({ job, pid }: DaemonEvents["dag.task.spawned"]): void => {
    if (pid !== null && job.launch.statsd !== null) void wanted().then((open) => open.jobStarted(job));
  };
  const finished = ({ job, result }: Pick<DaemonEvents["run.finished"], "job" | "result">): void => {
    if (job.launch.statsd === null || result.launchError !== null) return;
    const facts = {
      success: result.failReason === null && result.stopped === null,
      durationMs: result.endedAt - result.startedAt,
      resources: result.resources,
    };
    const sent = wanted().then((open) => open.jobStopped(job, facts));
    sending.add(sent);
    void sent.then(() => sending.delete(sent));
  };
  events.on("run.spawned", started);
  events.on("run.finished", finished);
  events.on("dag.task.spawned", started);
  events.on("dag.task.ended", finished);
  return {
    async close() {
      await Promise.all(sending);
      (await statsd)?.close();
    },
  };
}

import type { Launcher, LaunchRequest, LiveOutput, LiveRun, RunEvent } from "../contract/launcher.ts";
import type { StopCause } from "../contract/run.ts";
import type { JobApi } from "../jobapi/job-api.ts";

/**
 * Lets each run into the job API before its command starts, and out when it has ended, however it ended (JAP-2). Without a job API runs
 * are launched as they are.
 */
export function registeredLauncher(launcher: Launcher, jobApi: () => JobApi | null): Launcher {
  return {
    launch(request, onEvent) {
      const api = jobApi();
      return api === null ? launcher.launch(request, onEvent) : registeredRun(launcher, api, request, onEvent);
    },
  };
}

function registeredRun(
  launcher: Launcher,
  api: JobApi,
  request: LaunchRequest,
  onEvent: (event: RunEvent) => void,
): LiveRun {
  const { runId, job, attempt, scheduledAt, stateScope } = request;
  let live: LiveRun | null = null;
  let stopFirst: StopCause | null = null;
  const early = new Set<() => void>();

  const run = { runId, job, attempt, scheduledAt, defaultScope: stateScope ?? job.name };
  void api.register(run).then(({ environment }) => {
    live = launcher.launch(
      { ...request, injectedEnvironment: { ...request.injectedEnvironment, ...environment } },
      (event) => {
        if (event.kind === "finished") void api.release(runId);
        onEvent(event);
      },
    );
    if (stopFirst !== null) live.stop(stopFirst);
    for (const subscribe of early) subscribe();
    early.clear();
  });

  const output: LiveOutput = {
    recent: () => live?.output.recent() ?? [],
    get published() {
      return live?.output.published ?? 0;
    },
    subscribe(onLines, onEnd) {
      if (live !== null) return live.output.subscribe(onLines, onEnd);
      let unsubscribe = (): void => {};
      const subscribe = (): void => {
        unsubscribe = live?.output.subscribe(onLines, onEnd) ?? unsubscribe;
      };
      early.add(subscribe);
      return () => {
        early.delete(subscribe);
        unsubscribe();
      };
    },
  };
  return {
    stop(cause) {
      stopFirst ??= cause;
      live?.stop(cause);
    },
    output,
    resourcesNow: () => live?.resourcesNow() ?? null,
  };
}

import { hostname } from "node:os";
import type { Logger } from "../contract/log.ts";
import { type Daemon, startDaemon } from "../daemon/daemon.ts";
import { loadAside } from "../daemon/load-aside.ts";
import { createLogs } from "../daemon/logging/logs.ts";
import type { LineSink } from "../daemon/logging/sinks.ts";
import { directStderr, type StandardOptions, standardTree } from "../daemon/logging/standard.ts";
import { createMirror, type Mirror, type MirrorStream } from "../execution/capture/mirror.ts";
import { systemClock } from "../platform/clock.ts";
import { outputTarget } from "../platform/output-target.ts";
import { systemSpawner } from "../platform/spawn/system-spawner.ts";
import { tzdataProblem } from "../schedule/tzdata.ts";

/**
 * The daemon as a process, in the foreground: signals in, exit code out (config 13).
 *
 * @param nodeId the node's name in the store; null for the host's
 * @returns the exit code: 0 after a graceful stop, 1 when the configuration cannot be used
 */
export async function runDaemon(path: string, options: StandardOptions, nodeId: string | null): Promise<number> {
  const clock = systemClock;
  let mirror: Mirror | null = null;
  // The log shares the queue of the jobs' output, so that a line stands where it belongs and no reader can hold the daemon up (F37).
  const shared = (stream: MirrorStream): LineSink => ({
    write: (line) =>
      mirror === null
        ? directStderr.write(line)
        : mirror.write(stream, "", { text: line, lines: 1, bytes: Buffer.byteLength(line) }),
    close: () => {},
  });
  const sinks = { stdout: shared("stdout"), stderr: shared("stderr") };
  const logs = createLogs(clock, standardTree(options, sinks.stderr));
  const log = logs.named("cronstable");

  // Aside like every reload: what it takes to read a configuration is gone again when it has been read.
  const loaded = await loadAside(path);
  if (!loaded.ok) {
    log.error(`Configuration error: ${loaded.detail}`);
    return 1;
  }
  const zoneTrouble = tzdataProblem();
  if (zoneTrouble !== null) log.warning(zoneTrouble);

  const host = process.env.HOSTNAME ?? hostname();
  process.env.HOSTNAME = host;
  const output = createMirror({ stdout: outputTarget(1, clock), stderr: outputTarget(2, clock) }, clock, log);
  mirror = output;
  const daemon = await startDaemon(loaded, {
    clock,
    host,
    nodeId: nodeId ?? (hostname() || "localhost"),
    logs,
    standardSinks: sinks,
    load: () => loadAside(path),
    spawner: systemSpawner((reason) => log.warning(reason)),
    mirror: output,
    environment: process.env,
  });
  await stopRequested(daemon, log);
  await output.drain();
  return 0;
}

/** Resolves when the daemon has stopped, SIGINT or SIGTERM having asked for it. A further one says who is waited for. */
function stopRequested(daemon: Daemon, log: Logger): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (): void => {
      if (!stopping) {
        stopping = true;
        void daemon.stop().then(resolve);
        return;
      }
      const waitedFor = daemon.awaited().map(({ name, pid }) => (pid === null ? name : `${name} (pid ${pid})`));
      log.warning(
        waitedFor.length === 0
          ? "already shutting down: every job has ended, its reports are being sent"
          : `already shutting down, waiting for ${waitedFor.join(", ")}; cancel or kill them to end at once`,
      );
    };
    void daemon.stopAsked.then(stop);
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
    process.on("SIGHUP", () => daemon.reload());
  });
}

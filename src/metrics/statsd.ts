import type { LaunchConfig } from "../config/model.ts";
import type { LoggerNamed } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import { DESTINATIONS_MAX, STOP_PATIENCE_MS } from "./limits.ts";
import { type StopFacts, startDatagram, stopDatagram } from "./statsd-datagram.rules.ts";
import { type UdpDestination, type UdpDestinationEnvironment, udpDestination } from "./udp-destination.ts";

/** A job's start and end as statsd metrics (running 14). Trouble with the network is a warning, once until it is over. */
export interface Statsd {
  /** To be called once the command runs; a run that could not be launched sends nothing, then or at its end. Never waits. */
  jobStarted(job: StatsdJob): void;
  /** To be called when the verdict is made. Resolves within 2 s, when the datagram has left or will not. Never rejects. */
  jobStopped(job: StatsdJob, facts: StopFacts): Promise<void>;
  close(): void;
}

/** What is read of a job or DAG task. */
export interface StatsdJob {
  readonly name: string;
  readonly launch: Pick<LaunchConfig, "statsd">;
}

export function createStatsd({
  clock,
  log,
  resolve,
}: {
  readonly clock: Clock;
  readonly log: LoggerNamed;
  /** Looks up a host name; tests put their own here. */
  readonly resolve?: UdpDestinationEnvironment["resolve"];
}): Statsd {
  /** By host and port, the one used longest ago first. */
  const destinations = new Map<string, UdpDestination>();

  const destinationOf = (host: string, port: number): UdpDestination => {
    const key = `${host}:${port}`;
    const known = destinations.get(key);
    const destination =
      known ??
      udpDestination(host, port, {
        clock,
        onAsyncError: (error) => log("statsd").warning(`UDP error received: ${error.message}`),
        ...(resolve !== undefined && { resolve }),
      });
    destinations.delete(key);
    destinations.set(key, destination);
    for (const [oldest, unused] of destinations) {
      if (destinations.size <= DESTINATIONS_MAX) break;
      destinations.delete(oldest);
      unused.close();
    }
    return destination;
  };

  const send = async (job: StatsdJob, event: "job_started" | "job_stopped", make: (prefix: string) => string) => {
    const { statsd } = job.launch;
    if (statsd === null) return;
    const sent = await destinationOf(statsd.host, statsd.port).send(make(statsd.prefix));
    if (sent.kind === "failed") {
      log("cronstable").warning(`Job ${job.name}: failed to send statsd ${event} metric: ${sent.error.message}`);
    }
  };

  return {
    jobStarted(job) {
      void send(job, "job_started", startDatagram);
    },
    jobStopped(job, facts) {
      return new Promise((resolve) => {
        const giveUp = clock.after(STOP_PATIENCE_MS, resolve);
        void send(job, "job_stopped", (prefix) => stopDatagram(prefix, facts)).then(() => {
          giveUp();
          resolve();
        });
      });
    },
    close() {
      for (const destination of destinations.values()) destination.close();
      destinations.clear();
    },
  };
}

import type { Logger } from "../../contract/log.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { CLAIM_TTL_MS, HOST_SILENCE_MS, HOST_WATCH_MS, MANIFEST_STREAMS_MAX } from "../limits.ts";
import { presentStreams } from "../present-streams.ts";
import { manifestsStream } from "../streams.ts";
import { manifestRecord } from "../upkeep/manifest-record.ts";
import type { InFlightRuns, Interrupted, ReconciledJob } from "./inflight.ts";
import type { DaemonProcess, OpenRecord } from "./inflight-record.ts";

/** One node at a time looks; the lease is never deleted, like all named ones (LSE-2). */
const LEASE = "lost-hosts";

/**
 * Closes the runs of hosts that never come back, as a container's does whose name changes with every replacement: nobody there will
 * reconcile them, and without cluster scope nobody wins their slot either.
 *
 * A host is gone when its newest manifest, and the open record itself, are older than `HOST_SILENCE_MS`. Manifests are written every
 * six hours, so three in a row are missing; and this node's backend has been up long enough that every host alive has written one
 * since. A host that was cut off that long and still runs its job loses nothing but the row's verdict: the run's own row follows when
 * it ends.
 *
 * @param upSince when this node's backend came up
 */
export async function closeRunsOfLostHosts(
  parts: {
    readonly self: DaemonProcess;
    readonly backend: Backend;
    readonly inFlight: Pick<InFlightRuns, "closeLost">;
    readonly clock: Clock;
    readonly log: Logger;
  },
  upSince: EpochMs,
  jobs: readonly ReconciledJob[],
): Promise<readonly Interrupted[]> {
  const { self, backend, inFlight, clock, log } = parts;
  const now = clock.wallNow();
  if (now - upSince < HOST_WATCH_MS) return [];
  const silent = await silentHosts(backend, now);
  const present = await presentStreams(backend, "inflight/");
  if (silent.kind !== "done" || present.kind !== "done") return [];

  const lease = await onBackend(backend, ({ leases }) =>
    leases.acquire(LEASE, `${self.host}#${self.proc}`, CLAIM_TTL_MS),
  );
  if (lease.kind !== "done" || lease.value.kind !== "held") return [];
  let held = lease.value.lease;
  const closed: Interrupted[] = [];
  let renewAt = clock.elapsedNow() + CLAIM_TTL_MS / 3;
  for (const job of jobs) {
    if (!present.value.has(job.name)) continue;
    if (clock.elapsedNow() >= renewAt) {
      const renewed = await onBackend(backend, ({ leases }) => leases.renew(held, CLAIM_TTL_MS));
      if (renewed.kind !== "done" || renewed.value.kind !== "held") break; // what is left waits for the next pass
      held = renewed.value.lease;
      renewAt = clock.elapsedNow() + CLAIM_TTL_MS / 3;
    }
    const isLost = ({ host, startedAt }: OpenRecord): boolean =>
      silent.value(host) && now - startedAt > HOST_SILENCE_MS;
    closed.push(...(await inFlight.closeLost(job, isLost)));
  }
  await onBackend(backend, ({ leases }) => leases.release(held));
  if (closed.length > 0)
    log.warning(
      `state: closed ${closed.length} run(s) of hosts without a manifest for ${HOST_SILENCE_MS / 3600_000} hours; they will not come back to tell`,
    );
  return closed;
}

/** Whether a host has not been heard of for too long. One that never wrote a manifest has not. */
async function silentHosts(backend: Backend, now: EpochMs): Promise<Outcome<(host: string) => boolean>> {
  const hosts = await presentStreams(backend, "manifests/");
  if (hosts.kind !== "done") return hosts;
  const heard = new Set<string>();
  for (const host of hosts.value.names.slice(0, MANIFEST_STREAMS_MAX)) {
    const newest = await onBackend(backend, ({ records }) =>
      records.list(manifestsStream(host), { order: "newest first", limit: 1, reading: "tolerant" }),
    );
    if (newest.kind !== "done") return newest;
    const [record] = newest.value;
    const manifest = record === undefined ? null : manifestRecord.decode(record.data);
    const at = manifest?.kind === "record" ? manifest.value.at : null;
    // A record that does not tell its instant is as new as can be: in doubt the host lives.
    if (record !== undefined && (at === null || now - at <= HOST_SILENCE_MS)) heard.add(host);
  }
  // More hosts than are read, or some without a name: nothing is proven about any of them.
  const proves = hosts.value.complete && hosts.value.names.length <= MANIFEST_STREAMS_MAX;
  return { kind: "done", value: (host) => proves && !heard.has(host) };
}

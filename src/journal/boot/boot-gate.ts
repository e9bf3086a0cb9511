import type { Logger } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { failureText } from "../drops.ts";
import type { InFlightRuns } from "../inflight/inflight.ts";
import { BOOT_MARKERS_READ } from "../limits.ts";
import { jobStreams, keep } from "../streams.ts";
import { type UnavailablePolicy, whenUnavailable } from "../unavailable.rules.ts";
import type { WriteQueue } from "../write-queue.ts";
import { type Boot, type BootMarker, bootMarkerRecord, isCovered } from "./boot-marker.ts";

export type BootVerdict =
  | { readonly kind: "run" }
  | { readonly kind: "skip"; readonly because: "already ran" | "still runs" | "store unavailable" };

/** Makes an `@reboot` job run once per boot of the operating system (state 13). For standalone and every-node jobs (BOO-7). */
export interface BootGate {
  /**
   * Asked right before the launch; the marker is on disk before "run" is answered (BOO-3). A paused job must not be asked: its run
   * waits, and so does its marker.
   */
  admit(job: string, jobDigest: string): Promise<BootVerdict>;
  /** Whether the boot run has been, started by an earlier daemon of this boot; in doubt no (RET-8). */
  covered(job: string, jobDigest: string): Promise<boolean>;
}

export function createBootGate(parts: {
  readonly host: string;
  readonly boot: Boot;
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly inFlight: Pick<InFlightRuns, "survivor">;
  readonly policy: () => UnavailablePolicy;
  readonly clock: Clock;
  readonly log: Logger;
}): BootGate {
  const { host, boot, backend, writes, inFlight, policy, clock, log } = parts;
  /** A store that did not answer once is not asked again: every boot job would wait for it in turn (BOO-8). */
  let sick: string | null = null;
  /** Jobs whose marker is this process's own. */
  const marked = new Set<string>();

  const markersOf = async (job: string): Promise<Outcome<readonly BootMarker[]>> => {
    const listed = await onBackend(backend, ({ records }) =>
      records.list(jobStreams.reboot(job), { order: "newest first", limit: BOOT_MARKERS_READ, reading: "tolerant" }),
    );
    if (listed.kind !== "done") return listed;
    const markers = listed.value.flatMap(({ data }) => {
      const marker = bootMarkerRecord.decode(data);
      return marker.kind === "record" ? [marker.value] : [];
    });
    return { kind: "done", value: markers };
  };

  const withoutStore = (job: string, because: string): BootVerdict => {
    if (whenUnavailable["boot marker"][policy()] === "run") {
      log.warning(`Job ${job} (@reboot): whether it ran during this OS boot is not known (${because}); running it`);
      return { kind: "run" };
    }
    log.warning(
      `Job ${job} (@reboot): whether it ran during this OS boot is not known (${because}); skipping its boot run`,
    );
    return { kind: "skip", because: "store unavailable" };
  };

  const troubled = (job: string, outcome: Exclude<Outcome<unknown>, { kind: "done" }>): BootVerdict => {
    if (outcome.kind === "unknown") sick = outcome.because;
    return withoutStore(job, failureText(outcome));
  };

  /** Writes the marker and judges by what became of it (BOO-3, BOO-6). */
  const mark = async (job: string, jobDigest: string): Promise<BootVerdict> => {
    const body = bootMarkerRecord.encode({ ...boot, host, jobDigest, at: clock.wallNow() });
    const stream = jobStreams.reboot(job);
    const written = await writes.add(stream, "reboot-marker", job, () =>
      onBackend(backend, ({ records }) => records.append(stream, body, { keep: keep.reboot })),
    );
    if (written.kind === "done") {
      marked.add(job);
      return { kind: "run" };
    }
    if (written.kind === "shed") return withoutStore(job, "too many durable writes wait");
    if (written.kind === "unknown" && whenUnavailable["boot marker"][policy()] === "skip") {
      // It may have landed after all, and then the run is as safe as any.
      const markers = await markersOf(job);
      if (markers.kind === "done" && isCovered(markers.value, host, jobDigest, boot)) {
        marked.add(job);
        return { kind: "run" };
      }
    }
    return troubled(job, written);
  };

  return {
    async admit(job, jobDigest) {
      const survivor = inFlight.survivor(job);
      if (survivor !== null) {
        log.info(`Job ${job} (@reboot): the run of the previous daemon (pid ${survivor.pid}) still goes on; skipping`);
        return { kind: "skip", because: "still runs" };
      }
      if (sick !== null) return withoutStore(job, sick);
      const markers = await markersOf(job);
      if (markers.kind !== "done") return troubled(job, markers);
      if (isCovered(markers.value, host, jobDigest, boot)) {
        log.info(`Job ${job} (@reboot) already ran during this OS boot; skipping (state-backed dedupe)`);
        return { kind: "skip", because: "already ran" };
      }
      return mark(job, jobDigest);
    },
    async covered(job, jobDigest) {
      if (marked.has(job)) return false;
      const markers = await markersOf(job);
      return markers.kind === "done" && isCovered(markers.value, host, jobDigest, boot);
    },
  };
}

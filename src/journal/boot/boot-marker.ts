import { z } from "zod";
import { sameBoot } from "../../platform/boot.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { jsonFloat } from "../../store/json.ts";
import { isoInstant } from "../instant.ts";
import { optionalInstant, optionalNumber, optionalText, type RecordCodec, recordCodec } from "../record-codec.ts";

/** Which boot of the operating system; both null where nobody can tell, and then each daemon start counts as one (BOO-2). */
export interface Boot {
  readonly bootId: string | null;
  readonly bootTimeSeconds: number | null;
}

/** `reboot/<job>`: the boot run of a definition was started, on a host, in a boot (state 13). */
export interface BootMarker extends Boot {
  readonly host: string;
  readonly jobDigest: string;
  readonly at: EpochMs;
}

const shape = z.object({
  at: optionalInstant,
  bootId: optionalText,
  bootTime: optionalNumber,
  host: z.string(),
  jobDigest: z.string().catch(""),
});

export const bootMarkerRecord: RecordCodec<BootMarker> = recordCodec({
  shape,
  write: ({ at, bootId, bootTimeSeconds, host, jobDigest }) => ({
    at: isoInstant(at),
    bootId,
    bootTime: bootTimeSeconds === null ? null : jsonFloat(bootTimeSeconds),
    host,
    jobDigest,
  }),
  read: ({ at, bootId, bootTime, host, jobDigest }) => ({
    at: at ?? 0,
    bootId: bootId === "" ? null : bootId,
    bootTimeSeconds: bootTime,
    host,
    jobDigest,
  }),
});

/**
 * Whether a definition's boot run has been started in this boot (BOO-4, BOO-8). The newest marker of the host decides; one of another
 * definition means that the job was redefined and runs again.
 *
 * @param markers newest first
 */
export function isCovered(markers: readonly BootMarker[], host: string, jobDigest: string, boot: Boot): boolean {
  const newest = markers.find((marker) => marker.host === host);
  return newest !== undefined && newest.jobDigest === jobDigest && sameBoot(newest, boot);
}

import { z } from "zod";
import type { BootIdentity } from "../../platform/boot-identity.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { jsonFloat } from "../../store/json.ts";
import { isoInstant } from "../instant.ts";
import { optionalInstant, optionalNumber, optionalText, type RecordCodec, recordCodec } from "../record-codec.ts";

/** `reboot/<job>`: the boot run of a definition was started, on a host, in a boot (state 13). */
export interface BootMarker extends BootIdentity {
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

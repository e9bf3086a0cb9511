import type { BootIdentity } from "../../platform/boot-identity.ts";
import { BOOT_TOLERANCE_SECONDS } from "../limits.ts";
import type { BootMarker } from "./boot-marker.ts";

/**
 * Whether a definition's boot run has been started in this boot (BOO-4, BOO-8). The newest marker of the host decides; one of another
 * definition means that the job was redefined and runs again.
 *
 * @param markers newest first
 */
export function isCovered(
  markers: readonly BootMarker[],
  host: string,
  jobDigest: string,
  boot: BootIdentity,
): boolean {
  const newest = markers.find((marker) => marker.host === host);
  return newest !== undefined && newest.jobDigest === jobDigest && isSameBoot(newest, boot);
}

/** The kernel's name decides where both sides have it, else the instant of the boot (BOO-2). Unknown boots are never the same. */
export function isSameBoot(a: BootIdentity, b: BootIdentity): boolean {
  if (a.bootId !== null && b.bootId !== null) return a.bootId === b.bootId;
  if (a.bootTimeSeconds === null || b.bootTimeSeconds === null) return false;
  return Math.abs(a.bootTimeSeconds - b.bootTimeSeconds) <= BOOT_TOLERANCE_SECONDS;
}

import { join } from "node:path";
import { type Engine, StoreFault } from "../engine.ts";
import { utf8Text } from "../envelope.ts";
import { isObject, jsonFloat, plainJson } from "../json.ts";
import { encodeJson, parseJson } from "../json-text.ts";
import { acquired, released, renewed, type Standing } from "../lease.rules.ts";
import type { Lease } from "../store.ts";
import { errorCode } from "./disk.ts";
import { RECORD_BYTES_MAX } from "./limits.ts";
import { whileLocked } from "./lock-file.ts";
import { encodeName } from "./names.ts";
import { listIfThere, messageOf, nowSeconds, type Volume, writeWhole } from "./volume.ts";

export const LEASE_SUFFIX = ".lease";

export type LeaseFiles = Pick<Engine, "acquireLease" | "renewLease" | "releaseLease" | "readLease" | "listLeases">;

/** Leases, one small file each, written only under the lock of a file beside them (state 5.4). */
export function openLeases(volume: Volume): LeaseFiles {
  const pathOf = (name: string): string => join(volume.layout.leases, encodeName(name));

  /** Decides under the lock and writes what was decided. */
  const change = <T>(
    name: string,
    decide: (standing: Standing) => { readonly write: Lease | null; readonly answer: T },
  ): T => {
    const path = pathOf(name);
    return whileLocked(volume, `${path}.lock`, "leave", () => {
      const standing = readLeaseFile(volume, path + LEASE_SUFFIX);
      const { write, answer } = decide(standing);
      if (write !== null) {
        // Losing a write that keeps the fence only brings back an earlier expiry (ATW-3).
        const keepsFence = standing.kind === "lease" && standing.lease.fence === write.fence;
        writeWhole(volume, path + LEASE_SUFFIX, leaseBytes(write), keepsFence ? "skip" : "flush");
      }
      return answer;
    });
  };

  return {
    acquireLease: ({ name, holder, ttlSeconds }) =>
      change(name, (standing) => {
        if (standing.kind === "unreadable")
          volume.warn(`state: lease ${name} unreadable (${standing.because}); denying acquire`);
        return acquired(standing, name, holder, ttlSeconds, nowSeconds(volume));
      }),

    renewLease: ({ lease, ttlSeconds }) =>
      change(lease.name, (standing) => renewed(standing, lease, ttlSeconds, nowSeconds(volume))),

    releaseLease: ({ lease }) => change(lease.name, (standing) => released(standing, lease)),

    readLease({ name }) {
      const standing = readLeaseFile(volume, pathOf(name) + LEASE_SUFFIX);
      return standing.kind === "lease" && standing.lease.expiresAtSeconds > 0 ? standing.lease : null;
    },

    listLeases() {
      return listIfThere(volume.disk, volume.layout.leases)
        .filter((file) => file.endsWith(LEASE_SUFFIX))
        .map((file) => readLeaseFile(volume, join(volume.layout.leases, file)))
        .flatMap((standing) =>
          standing.kind === "lease" && standing.lease.expiresAtSeconds > 0 ? [standing.lease] : [],
        );
    },
  };
}

/** What a lease file says. An error of the medium is one of them for a lease: it must not be taken for free. */
export function readLeaseFile(volume: Volume, path: string): Standing {
  let bytes: Buffer;
  try {
    bytes = volume.disk.readFile(path, RECORD_BYTES_MAX);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { kind: "absent" };
    return { kind: "unreadable", because: messageOf(error) };
  }
  const lease = parseLease(utf8Text(bytes));
  return lease === null ? { kind: "unreadable", because: "not a lease" } : { kind: "lease", lease };
}

/** Null when the text is no lease. Numbers may be of either type (LSE-4). */
export function parseLease(text: string | null): Lease | null {
  if (text === null) return null;
  let root: unknown;
  try {
    const value = parseJson(text);
    if (!isObject(value)) return null;
    root = plainJson(value);
  } catch {
    return null; // BadJson: no lease
  }
  const { name, holder, fence, expiresAt } = root as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || typeof holder !== "string") return null;
  if (typeof fence !== "number" || !Number.isSafeInteger(fence) || fence < 1) return null;
  return typeof expiresAt === "number" ? { name, holder, fence, expiresAtSeconds: expiresAt } : null;
}

/** Lease files have no envelope (FMT-1). */
function leaseBytes(lease: Lease): Uint8Array {
  const { name, holder, fence, expiresAtSeconds } = lease;
  const encoded = encodeJson({ name, holder, fence, expiresAt: jsonFloat(expiresAtSeconds) });
  if (encoded.kind === "not portable") throw new StoreFault("not portable", encoded.problem);
  return Buffer.from(encoded.text, "utf8");
}

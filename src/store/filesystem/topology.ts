import { readFileSync, realpathSync } from "node:fs";
import type { Topology } from "../../config/model.ts";

const NETWORK_TYPES: ReadonlySet<string> = new Set([
  "nfs",
  "nfs4",
  "nfs3",
  "efs",
  "cifs",
  "smb3",
  "smbfs",
  "lustre",
  "glusterfs",
  "ceph",
  "cephfs",
  "fuse.sshfs",
]);

export interface Mount {
  readonly point: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** The mounts of a table in the form of /proc/mounts; spaces and the like are octal escapes there. */
export function parseMounts(table: string): readonly Mount[] {
  return table.split("\n").flatMap((line) => {
    const [, point, type, options] = line.split(" ");
    if (point === undefined || type === undefined || options === undefined) return [];
    const decoded = point.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
    return [{ point: decoded, type, options: options.split(",") }];
  });
}

/** The mount a real path is on: the longest mount point above it, and of equal ones the last mounted. */
export function mountOf(realPath: string, mounts: readonly Mount[]): Mount | null {
  let found: Mount | null = null;
  for (const mount of mounts) {
    const root = mount.point === "/" ? "/" : `${mount.point}/`;
    const covers = realPath === mount.point || realPath.startsWith(root);
    if (covers && (found === null || mount.point.length >= found.point.length)) found = mount;
  }
  return found;
}

/** The mount under `path`, or null where the system does not tell (Windows, macOS). */
export function probeMount(path: string): Mount | null {
  try {
    return mountOf(realpathSync(path), parseMounts(readFileSync("/proc/mounts", "utf8")));
  } catch {
    return null; // no /proc/mounts on this platform
  }
}

export interface ResolvedTopology {
  readonly topology: "single-node" | "shared";
  /** Set when what is configured contradicts what is mounted; the configuration is obeyed (TOP-3). */
  readonly contradiction: string | null;
}

export function resolveTopology(configured: Topology, mount: Mount | null): ResolvedTopology {
  const probed = mount === null ? null : NETWORK_TYPES.has(mount.type) ? "shared" : "single-node";
  if (configured === "auto") return { topology: probed ?? "single-node", contradiction: null };
  const contradiction =
    mount === null || probed === configured
      ? null
      : `state: topology is configured as ${configured}, but ${mount.point} is mounted as ${mount.type}, which looks like ${probed}; going by the configuration`;
  return { topology: configured, contradiction };
}

/** Why an NFS mount's locks stay on this host, or null (TOP-6 a). */
export function hostLocalLocks(mount: Mount | null): string | null {
  if (mount === null || !mount.type.startsWith("nfs")) return null;
  const option = mount.options.find((o) => o === "nolock" || o === "local_lock=flock" || o === "local_lock=all");
  return option === undefined ? null : `${mount.point} is mounted with ${option}, so locks do not reach other hosts`;
}

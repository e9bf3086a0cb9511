/** Where this process stands in the control groups of its host, or what stands in the way of making groups there. */
export type OwnGroup =
  | { readonly kind: "group"; readonly directory: string; readonly heldByV1: ReadonlySet<string> }
  | { readonly kind: "none"; readonly why: string };

interface Mount {
  /** The group that is seen as the mount's top. */
  readonly root: string;
  readonly point: string;
  readonly isReadOnly: boolean;
}

/**
 * Finds the directory of the own group from the kernel's two accounts of it.
 *
 * @param membership text of /proc/self/cgroup
 * @param mountinfo text of /proc/self/mountinfo
 */
export function locateOwnGroup(membership: string, mountinfo: string): OwnGroup {
  const lines = membership.split("\n").filter(Boolean);
  const path = lines.find((line) => line.startsWith("0::"))?.slice("0::".length);
  const heldByV1 = new Set(
    lines.flatMap((line) => (line.startsWith("0::") ? [] : (line.split(":")[1]?.split(",") ?? []))),
  );
  if (path === undefined) {
    return none("this host has cgroup v1 only; limits need v2 (boot with systemd.unified_cgroup_hierarchy=1)");
  }
  const mounts = unifiedMounts(mountinfo);
  if (mounts.length === 0) return none("no cgroup v2 file system is mounted here");
  const visible = mounts.filter((mount) => isBelow(path, mount.root));
  if (visible.length === 0) return none(`the daemon's own control group ${path} is outside of what is mounted here`);
  const writable = visible.find((mount) => !mount.isReadOnly);
  if (writable === undefined) {
    const points = visible.map((mount) => mount.point).join(", ");
    return none(`${points} is mounted read-only; a container needs a writable cgroup mount`);
  }
  return { kind: "group", directory: directoryOf(path, writable), heldByV1 };
}

function none(why: string): OwnGroup {
  return { kind: "none", why };
}

function unifiedMounts(mountinfo: string): Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [left, right] = line.split(" - ");
    const [, , , root, point, options] = left?.split(" ") ?? [];
    if (right?.split(" ")[0] !== "cgroup2" || root === undefined || point === undefined) return [];
    return [
      { root: unescaped(root), point: unescaped(point), isReadOnly: options?.split(",").includes("ro") ?? false },
    ];
  });
}

/** mountinfo writes blanks, tabs, line ends and backslashes as three octal digits. */
function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function isBelow(path: string, root: string): boolean {
  if (path.split("/").includes("..")) return false; // above the top of this cgroup namespace
  return root === "/" || path === root || path.startsWith(`${root}/`);
}

function directoryOf(path: string, { root, point }: Mount): string {
  const relative = root === "/" ? path : path.slice(root.length);
  return `${point}${relative === "/" ? "" : relative}`;
}

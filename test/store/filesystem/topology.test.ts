import { expect, test } from "vitest";
import { hostLocalLocks, mountOf, parseMounts, resolveTopology } from "../../../src/store/filesystem/topology.ts";

const table = `/dev/vda / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
fs-1.efs:/ /mnt/shared\\040disk nfs4 rw,vers=4.1,local_lock=none 0 0
10.0.0.1:/x /mnt/old nfs rw,nolock 0 0
/dev/vdb /mnt/shared\\040disk/local xfs rw 0 0
`;
const mounts = parseMounts(table);
const topologyAt = (path: string) => resolveTopology("auto", mountOf(path, mounts)).topology;

test("the file system under the path decides, the longest mount point wins (TOP-3)", () => {
  expect(topologyAt("/var/lib/cronstable")).toBe("single-node");
  expect(topologyAt("/mnt/shared disk")).toBe("shared");
  expect(topologyAt("/mnt/shared disk/store")).toBe("shared");
  expect(topologyAt("/mnt/shared disks")).toBe("single-node");
  expect(topologyAt("/mnt/shared disk/local/store")).toBe("single-node");
});

test("a mount over another on one point hides it", () => {
  const stacked = parseMounts("a /mnt ext4 rw 0 0\nb /mnt nfs rw 0 0\n");
  expect(mountOf("/mnt/x", stacked)?.type).toBe("nfs");
});

test("where nothing can be probed the store is one node's, and a configured topology is not contradicted", () => {
  expect(resolveTopology("auto", null)).toEqual({ topology: "single-node", contradiction: null });
  expect(resolveTopology("shared", null)).toEqual({ topology: "shared", contradiction: null });
});

test("what is configured is obeyed, and a contradiction said", () => {
  expect(resolveTopology("shared", mountOf("/var", mounts))).toEqual({
    topology: "shared",
    contradiction:
      "state: topology is configured as shared, but / is mounted as ext4, which looks like single-node; going by the configuration",
  });
  expect(resolveTopology("shared", mountOf("/mnt/old/x", mounts)).contradiction).toBeNull();
});

test("NFS options that keep locks on this host are told (TOP-6)", () => {
  expect(hostLocalLocks(mountOf("/mnt/old/x", mounts))).toBe(
    "/mnt/old is mounted with nolock, so locks do not reach other hosts",
  );
  expect(hostLocalLocks(mountOf("/mnt/shared disk", mounts))).toBeNull();
  expect(hostLocalLocks(mountOf("/var", mounts))).toBeNull();
});

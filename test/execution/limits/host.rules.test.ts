import { expect, test } from "vitest";
import { locateOwnGroup } from "../../../src/execution/limits/host.rules.ts";

const mount = (root: string, point: string, options = "rw,nosuid") =>
  `31 24 0:27 ${root} ${point} ${options} shared:9 - cgroup2 cgroup2 rw,nsdelegate`;
const OTHER_MOUNTS = `22 1 8:1 / / rw - ext4 /dev/sda1 rw
40 24 0:30 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory`;

test("a systemd host: the group of the service below the one mount", () => {
  const mounts = `${OTHER_MOUNTS}\n${mount("/", "/sys/fs/cgroup")}\n`;
  expect(locateOwnGroup("0::/system.slice/cronstable.service\n", mounts)).toEqual({
    kind: "group",
    directory: "/sys/fs/cgroup/system.slice/cronstable.service",
    heldByV1: new Set(),
  });
});

test("a container with a namespace of its own stands at the top of its mount", () => {
  expect(locateOwnGroup("0::/\n", mount("/", "/sys/fs/cgroup"))).toMatchObject({ directory: "/sys/fs/cgroup" });
});

test("a container without one sees a part of the tree, mounted from its own group on", () => {
  const mounts = mount("/docker/abc", "/sys/fs/cgroup");
  expect(locateOwnGroup("0::/docker/abc\n", mounts)).toMatchObject({ directory: "/sys/fs/cgroup" });
  expect(locateOwnGroup("0::/docker/abc/inner\n", mounts)).toMatchObject({ directory: "/sys/fs/cgroup/inner" });
});

test("a hybrid host has a group, and says which controllers v1 holds", () => {
  const membership = "9:name=systemd:/\n4:memory:/jobs\n2:cpu,cpuacct:/\n0::/\n";
  expect(locateOwnGroup(membership, mount("/", "/sys/fs/cgroup/unified"))).toEqual({
    kind: "group",
    directory: "/sys/fs/cgroup/unified",
    heldByV1: new Set(["name=systemd", "memory", "cpu", "cpuacct"]),
  });
});

test("of several mounts a writable one is taken, and its odd name is read right", () => {
  const mounts = `${mount("/", "/ro", "ro,relatime")}\n${mount("/", "/my\\040groups")}`;
  expect(locateOwnGroup("0::/a\n", mounts)).toMatchObject({ directory: "/my groups/a" });
});

test.each([
  {
    host: "v1 alone",
    membership: "4:memory:/\n",
    mounts: OTHER_MOUNTS,
    why: "this host has cgroup v1 only; limits need v2 (boot with systemd.unified_cgroup_hierarchy=1)",
  },
  {
    host: "v2 not mounted",
    membership: "0::/\n",
    mounts: OTHER_MOUNTS,
    why: "no cgroup v2 file system is mounted here",
  },
  {
    host: "a read-only mount",
    membership: "0::/\n",
    mounts: mount("/", "/sys/fs/cgroup", "ro,nosuid"),
    why: "/sys/fs/cgroup is mounted read-only; a container needs a writable cgroup mount",
  },
  {
    host: "a group above the namespace",
    membership: "0::/../other\n",
    mounts: mount("/", "/sys/fs/cgroup"),
    why: "the daemon's own control group /../other is outside of what is mounted here",
  },
  {
    host: "a group beside the mounted part",
    membership: "0::/docker/abcd\n",
    mounts: mount("/docker/abc", "/sys/fs/cgroup"),
    why: "the daemon's own control group /docker/abcd is outside of what is mounted here",
  },
])("$host: limits are impossible, and the reason says what to do", ({ membership, mounts, why }) => {
  expect(locateOwnGroup(membership, mounts)).toEqual({ kind: "none", why });
});

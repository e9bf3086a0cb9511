/**
 * Limits enforced by the kernel of this machine, as far as it lets us: which controllers it hands out decides what is tested. All of
 * it runs with `scripts/limits-in-uml.sh`, whatever the machine.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import type { ResourceLimits } from "../../../src/config/model.ts";
import type { Cage } from "../../../src/execution/companions.ts";
import { ownGroup } from "../../../src/execution/limits/base-group.ts";
import { createLimitsEnforcer } from "../../../src/execution/limits/limits-enforcer.ts";
import { childGroups, killGroup, makeGroup, readGroupFile, removeGroup } from "../../../src/platform/cgroup.ts";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import { writtenLog } from "../../support/node.ts";

/** Soon on an idle machine; long enough for a busy one. */
const SOON = { timeout: 20_000 };

const START = Date.UTC(2026, 0, 1);

const own = ownGroup();
const place = own.kind === "group" ? join(own.directory, `cronstable-test-${process.pid}`) : "";
const isWritable = own.kind === "group" && makeGroup(place) === null;
const controllers = isWritable ? (readGroupFile(place, "cgroup.controllers") ?? "").split(/\s+/) : [];
const has = (controller: string) => controllers.includes(controller);

const lines: string[] = [];
const log = writtenLog(lines);
const clock = simulatedClock(START);
const enforcer = createLimitsEnforcer({ clock, log }, () => ({ kind: "group", directory: place, heldByV1: new Set() }));
let lastRun = 0;

function cage(limits: Partial<ResourceLimits>, job = "job"): Cage {
  lastRun += 1;
  const all = { cpu: null, memoryBytes: null, processes: null, required: false, ...limits };
  const made = enforcer.prepare(`run${lastRun}`, job, all);
  if (made.kind === "refused") throw new Error(made.why);
  return made;
}

function start({ argvPrefix }: Cage, ...argv: string[]) {
  const [program = "", ...args] = [...argvPrefix, ...argv];
  const child = spawn(program, args, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
  return { pid: child.pid ?? 0, output: () => output, ended: once(child, "close") };
}

const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");

afterEach(async () => {
  if (!isWritable) return;
  for (const group of childGroups(place)) killGroup(join(place, group));
  await vi.waitFor(() => {
    clock.runUntil(clock.wallNow() + 60_000);
    expect(childGroups(place).filter((name) => name.startsWith("cronstable-run-"))).toEqual([]);
  }, SOON);
});

afterAll(() => {
  enforcer.close();
  if (isWritable) removeGroup(place);
});

describe.runIf(isWritable)("a run in a control group of its own", () => {
  test("is the command itself: same pid, arguments untouched, exit code its own", async () => {
    const made = cage({ processes: 50 });
    const run = start(made, "/bin/sh", "-c", 'echo "$$ $1"; exit 7', "sh", "a 'b' $HOME");
    expect(await run.ended).toEqual([7, null]);
    expect(run.output()).toBe(`${run.pid} a 'b' $HOME\n`);
    expect(made.entered()).toBe(true);
    made.finish();
    expect(childGroups(place)).not.toContain(`cronstable-run-run${lastRun}`);
  });

  test("is killed with what escaped its session", async () => {
    const made = cage({ processes: 50 });
    const run = start(made, "/bin/sh", "-c", "setsid sleep 300 & echo $!; sleep 300");
    await vi.waitFor(() => expect(run.output()).toMatch(/^\d+\n$/), SOON);
    const escaped = Number(run.output());
    made.kill();
    expect(await run.ended).toEqual([null, "SIGKILL"]);
    await vi.waitFor(() => expect(isAlive(escaped)).toBe(false), SOON);
    made.finish();
  });

  test("leaves its group behind while something of it lives, and not longer", async () => {
    const made = cage({ processes: 50 });
    const run = start(made, "/bin/sh", "-c", "setsid sleep 300 >/dev/null 2>&1 & exit 0");
    await run.ended;
    made.finish();
    const name = `cronstable-run-run${lastRun}`;
    clock.runUntil(clock.wallNow() + 60_000);
    expect(childGroups(place)).toContain(name);
    killGroup(join(place, name));
    await vi.waitFor(() => {
      clock.runUntil(clock.wallNow() + 60_000);
      expect(childGroups(place)).not.toContain(name);
    }, SOON);
  });

  test("whose group was taken away runs without caps, and its record says so", async () => {
    const made = cage({ processes: 50 });
    removeGroup(join(place, `cronstable-run-run${lastRun}`));
    const run = start(made, "/bin/echo", "on");
    expect(await run.ended).toEqual([0, null]);
    expect(run.output()).toBe("on\n");
    expect(made.entered()).toBe(false);
    expect(made.finish()).toMatchObject({ enforced: [], notEnforced: [{ cap: "processes" }] });
  });

  test("is refused where a required cap cannot be had", () => {
    const taken = createLimitsEnforcer({ clock, log }, () => ({ kind: "none", why: "no cgroup v2 here" }));
    const limits = { cpu: 1, memoryBytes: null, processes: null, required: true };
    expect(taken.prepare("x", "job", limits)).toEqual({ kind: "refused", why: "no cgroup v2 here" });
  });
});

describe.runIf(has("memory"))("memory", () => {
  test("past the cap the whole tree is killed, and the record says why", async () => {
    const made = cage({ memoryBytes: 64 * 2 ** 20, required: true });
    const run = start(made, "/bin/sh", "-c", "tail /dev/zero; sleep 300"); // tail keeps its last line, which never ends
    expect(await run.ended).toEqual([null, "SIGKILL"]);
    const record = made.finish();
    expect(record).toMatchObject({ enforced: ["memory"], memoryExceeded: true });
    expect(record.memoryPeakBytes).toBeLessThanOrEqual(64 * 2 ** 20);
    expect(childGroups(place)).not.toContain(`cronstable-run-run${lastRun}`);
  });

  test("a run that stays below is left alone", async () => {
    const made = cage({ memoryBytes: 64 * 2 ** 20 });
    expect(await start(made, "/bin/true").ended).toEqual([0, null]);
    expect(made.finish()).toMatchObject({ enforced: ["memory"], memoryExceeded: false });
  });
});

describe.runIf(has("pids"))("processes", () => {
  test("a fork bomb does not get beyond its cap", async () => {
    const made = cage({ processes: 5, required: true });
    const run = start(made, "/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 300 & done; wait");
    await vi.waitFor(() => expect(run.output()).toMatch(/fork/i), SOON);
    const group = join(place, `cronstable-run-run${lastRun}`);
    expect(Number(readGroupFile(group, "pids.current"))).toBeLessThanOrEqual(5);
    made.kill();
    await run.ended;
    expect(made.finish()).toMatchObject({ enforced: ["processes"] });
  });
});

describe.runIf(has("cpu"))("cpu", () => {
  test("a busy run is slowed down to its share", async () => {
    const made = cage({ cpu: 0.2, required: true });
    const run = start(made, "/bin/sh", "-c", "while :; do :; done");
    const group = join(place, `cronstable-run-run${lastRun}`);
    await vi.waitFor(() => expect(readGroupFile(group, "cpu.stat")).toMatch(/throttled_usec [1-9]\d{5}/), SOON);
    made.kill();
    await run.ended;
    const record = made.finish();
    expect(record.enforced).toEqual(["cpu"]);
    expect(record.cpuThrottledSeconds).toBeGreaterThan(0.1);
  });
});

describe.runIf(isWritable && !has("memory"))("a host that does not hand out the memory controller", () => {
  test("warns once, runs the job, and says so in the record", async () => {
    const made = cage({ memoryBytes: 64 * 2 ** 20 }, "hog");
    expect(await start(made, "/bin/true").ended).toEqual([0, null]);
    expect(made.finish()).toMatchObject({
      enforced: [],
      notEnforced: [{ cap: "memory", reason: `the memory controller is not delegated to ${place}` }],
      memoryExceeded: false,
      memoryPeakBytes: null,
    });
    cage({ memoryBytes: 64 * 2 ** 20 }, "hog").finish();
    expect(lines.filter((line) => line.includes("hog"))).toHaveLength(1);
  });
});

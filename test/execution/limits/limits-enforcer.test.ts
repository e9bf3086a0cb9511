import { expect, test } from "vitest";
import type { ResourceLimits } from "../../../src/config/model.ts";
import type { OwnGroup } from "../../../src/execution/limits/host.rules.ts";
import { createLimitsEnforcer } from "../../../src/execution/limits/limits-enforcer.ts";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import { writtenLog } from "../../support/node.ts";

const START = Date.UTC(2026, 0, 1);

const job = (name: string, caps: Partial<ResourceLimits> = { cpu: 1 }) => ({
  name,
  limits: { cpu: null, memoryBytes: null, processes: null, required: false, ...caps },
});

function enforcerOn(own: OwnGroup) {
  const lines: string[] = [];
  const log = writtenLog(lines);
  let looks = 0;
  const enforcer = createLimitsEnforcer({ clock: simulatedClock(START), log }, () => {
    looks += 1;
    return own;
  });
  return { ...enforcer, lines, looks: () => looks };
}

const nowhere: OwnGroup = { kind: "none", why: "no cgroup v2 file system is mounted here" };

test("one warning names all jobs whose caps do not hold, and what becomes of them", () => {
  const { announce, lines } = enforcerOn(nowhere);
  announce([job("etl", { cpu: 1, memoryBytes: 2 ** 30 }), job("strict", { processes: 9, required: true }), job("web")]);
  expect(lines).toEqual([
    "WARNING resourceLimits this host cannot enforce: cpu, memory, processes (no cgroup v2 file system is mounted here). " +
      "Run without: etl, web. Not started, since required: strict.",
  ]);
});

test("a job is warned of once, again when it was gone from the configuration meanwhile", () => {
  const { announce, prepare, lines } = enforcerOn(nowhere);
  announce([job("a")]);
  announce([job("a"), job("b")]);
  prepare("run1", "a", job("a").limits);
  prepare("run2", "c", job("c").limits);
  expect(lines.map((line) => line.match(/Run without: (.*)\./)?.[1])).toEqual(["a", "b", "c"]);
  announce([job("b")]);
  announce([job("a"), job("b")]);
  expect(lines).toHaveLength(4);
});

test("very many jobs do not make the line endless", () => {
  const { announce, lines } = enforcerOn(nowhere);
  announce(Array.from({ length: 500 }, (_, k) => job(`job${k}`)));
  expect(lines[0]).toMatch(/job19 and 480 more\.$/);
});

test("without limits nobody looks at the host", () => {
  const { announce, looks } = enforcerOn(nowhere);
  announce([]);
  expect(looks()).toBe(0);
  announce([job("a")]);
  announce([job("b")]);
  expect(looks()).toBe(1);
});

test("a run on a host without groups starts as it is, and its record lists every cap with the reason", () => {
  const { prepare } = enforcerOn(nowhere);
  const cage = prepare("run1", "etl", job("etl", { cpu: 0.5, processes: 3 }).limits);
  if (cage.kind === "refused") throw new Error(cage.why);
  expect(cage.argvPrefix).toEqual([]);
  cage.kill();
  expect(cage.entered()).toBe(true);
  expect(cage.finish()).toEqual({
    requested: { cpu: 0.5, processes: 3 },
    enforced: [],
    notEnforced: [
      { cap: "cpu", reason: "no cgroup v2 file system is mounted here" },
      { cap: "processes", reason: "no cgroup v2 file system is mounted here" },
    ],
    memoryExceeded: false,
    memoryPeakBytes: null,
    cpuThrottledSeconds: null,
    processesPeak: null,
  });
});

test("a group that may not be written to is named, with the way out", () => {
  const { announce, lines } = enforcerOn({ kind: "group", directory: "/proc/self/fdinfo", heldByV1: new Set() });
  announce([job("a")]);
  expect(lines[0]).toMatch(/\/proc\/self\/fdinfo is not delegated to the daemon \(systemd: Delegate=yes\): E[A-Z]+/);
});

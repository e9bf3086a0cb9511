import { describe, expect, test } from "vitest";
import {
  isFinishedRun,
  isPaused,
  type Manifest,
  manifestOf,
  mayCollect,
  type Uses,
  whatToKeep,
} from "../../../src/store/admin/what-to-keep.ts";

const day = 86_400;
const grace = 7 * day;
const now = 100 * day;

const own: Uses = { host: "here", jobs: ["mine"], scopes: ["global"], dags: ["etl"] };
const manifest = (ageDays: number, over: Partial<Manifest> = {}): Manifest => ({
  atSeconds: now - ageDays * day,
  host: "there",
  jobs: ["theirs"],
  scopes: ["global", "team"],
  dags: [],
  ...over,
});
const old = manifest(8, { host: "gone", jobs: ["removed"] });
const keep = (...manifests: readonly Manifest[]) => whatToKeep(own, manifests, grace, now);

describe("what to keep", () => {
  test("is unproven until the manifests reach back one whole grace (GC-8)", () => {
    expect(keep()).toBeNull();
    expect(keep(manifest(6.9))).toBeNull();
    expect(keep(manifest(0), manifest(7))).not.toBeNull();
    expect(keep(manifest(8), manifest(1, { atSeconds: null }))).toBeNull();
  });

  test("is what this node and every recent manifest use; old ones count for nothing (GC-2, GC-9)", () => {
    expect(keep(old, manifest(6))).toEqual({
      jobs: new Set(["mine", "theirs"]),
      hosts: new Set(["here", "there"]),
      scopes: new Set(["mine", "theirs", "global", "team"]),
      dags: new Set(["etl"]),
    });
  });

  test("leaves artifacts and DAGs alone while one recent node does not say what it uses (GC-4)", () => {
    for (const silent of [{ scopes: null }, { dags: null }])
      expect(keep(old, manifest(1), manifest(2, silent))).toMatchObject({ scopes: null, dags: null });
    expect(keep(manifest(9, { scopes: null, dags: null }), manifest(1))?.scopes).not.toBeNull();
  });
});

test("a manifest is read for what it has", () => {
  const at = "1970-04-11T00:00:00+00:00";
  expect(manifestOf({ at, host: "h", jobs: ["a", 1, "b"], scopes: ["global"], dags: [] })).toEqual({
    atSeconds: 100 * day,
    host: "h",
    jobs: ["a", "b"],
    scopes: ["global"],
    dags: [],
  });
  expect(manifestOf({ at: 5, scopes: "global" })).toEqual({
    atSeconds: null,
    host: "",
    jobs: [],
    scopes: null,
    dags: null,
  });
});

describe("which streams may go", () => {
  const judged = keep(old, manifest(1)) ?? expect.fail("deferred");
  const may = (stream: string): boolean => mayCollect(stream, judged, new Set(["paused"]), new Set(["dagxcom/etl/r1"]));

  test.each(["runs", "logs", "catchup", "retries", "reboot", "inflight", "slots"])(
    "%s of removed jobs, of no others",
    (family) => {
      expect(may(`${family}/removed`)).toBe(true);
      expect(may(`${family}/mine`)).toBe(false);
      expect(may(`${family}/theirs`)).toBe(false);
    },
  );

  test("counters and manifests of hosts nobody names", () => {
    for (const family of ["counters", "manifests"]) {
      expect(may(`${family}/gone`)).toBe(true);
      expect(may(`${family}/here`)).toBe(false);
      expect(may(`${family}/there`)).toBe(false);
    }
  });

  test("pauses that hold for nobody", () => {
    expect(may("paused/mine")).toBe(true);
    expect(may("paused/paused")).toBe(false);
  });

  test("artifacts of no job, shared scope or run", () => {
    for (const scope of ["mine", "theirs", "global", "team", "dagxcom/etl/r1"])
      expect(may(`artifacts/${scope}`)).toBe(false);
    for (const scope of ["removed", "dagxcom/etl/r2"]) expect(may(`artifacts/${scope}`)).toBe(true);
    expect(mayCollect("artifacts/removed", { ...judged, scopes: null }, new Set(), new Set())).toBe(false);
  });

  test("catch-up of removed DAGs", () => {
    expect(may("catchup-dag/removed")).toBe(true);
    expect(may("catchup-dag/etl")).toBe(false);
    expect(mayCollect("catchup-dag/removed", { ...judged, dags: null }, new Set(), new Set())).toBe(false);
  });

  test.each(["meta", "cluster/reboot-ran", "unknown/removed", "runs/", "runs", "/x", "Runs/removed"])(
    "never %s (GC-7)",
    (stream) => {
      expect(may(stream)).toBe(false);
    },
  );
});

test("a pause holds until its end, and without one for ever", () => {
  const until = (text: string) => ({ kind: "paused", until: text });
  expect(isPaused(until("1970-04-12T00:00:00+00:00"), now)).toBe(true);
  expect(isPaused(until("1970-04-11T00:00:00+00:00"), now)).toBe(false);
  expect(isPaused({ kind: "paused" }, now)).toBe(true);
  expect(isPaused({ kind: "resumed" }, now)).toBe(false);
  expect(isPaused({ kind: "something newer" }, now)).toBe(true);
});

test("a run is over when it says so and has said so for long", () => {
  expect(isFinishedRun({ state: "success", updatedAt: 5 }, 6)).toBe(true);
  expect(isFinishedRun({ state: "failed", updatedAt: 5 }, 6)).toBe(true);
  expect(isFinishedRun({ state: "success", updatedAt: 6 }, 6)).toBe(false);
  expect(isFinishedRun({ state: "running", updatedAt: 5 }, 6)).toBe(false);
  expect(isFinishedRun({ state: "success" }, 6)).toBe(false);
});

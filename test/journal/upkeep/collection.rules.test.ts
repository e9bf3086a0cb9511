import { describe, expect, test } from "vitest";
import {
  isOrphan,
  isOrphanRun,
  type KeepSets,
  planCollection,
  type StreamFacts,
} from "../../../src/journal/upkeep/collection.rules.ts";
import type { Manifest } from "../../../src/journal/upkeep/manifest-record.ts";

const day = 86_400_000;
const grace = 7 * day;
const now = 1000 * day;
const own = { host: "nodea", jobSetId: "v1:0", jobs: ["backup"], scopes: ["global"], dags: ["etl"] };
const manifest = (daysAgo: number | null, over: Partial<Manifest> = {}): Manifest => ({
  at: daysAgo === null ? null : now - daysAgo * day,
  host: "nodea",
  jobSetId: "v1:0",
  jobs: ["backup"],
  scopes: ["global"],
  dags: [],
  ...over,
});
const plan = (...manifests: Manifest[]) => planCollection(manifests, own, now, grace);
const kept = (...manifests: Manifest[]): KeepSets => {
  const found = plan(manifest(9), ...manifests);
  if (found.kind !== "collect") throw new Error("deferred");
  return found.keep;
};

describe("GC-8: nothing goes before the manifests span a whole grace", () => {
  test.each([
    ["a fresh store", [], "deferred"],
    ["history of six days", [manifest(6), manifest(0)], "deferred"],
    ["history of exactly the grace", [manifest(7), manifest(0)], "collect"],
    ["manifests that do not tell their age", [manifest(null)], "deferred"],
    ["one host's old one", [manifest(0), manifest(8, { host: "nodeb" })], "collect"],
  ])("%s: %#", (_, manifests, kind) => expect(plan(...manifests).kind).toBe(kind));
});

describe("GC-2: what a recent manifest names stays", () => {
  test("of any node and job set, and what this node is configured for", () => {
    const sets = kept(
      manifest(6.9, { host: "nodeb", jobs: ["theirs"], scopes: ["team"], dags: ["report"] }),
      manifest(0),
    );
    expect([...sets.jobs].sort()).toEqual(["backup", "theirs"]);
    expect([...sets.hosts].sort()).toEqual(["nodea", "nodeb"]);
    expect([...(sets.scopes ?? [])].sort()).toEqual(["backup", "global", "team", "theirs"]);
    expect([...(sets.dags ?? [])].sort()).toEqual(["etl", "report"]);
  });

  test("an old one protects nothing any more; one of unknown age counts as recent", () => {
    expect(kept(manifest(7.1, { jobs: ["gone"] }), manifest(0)).jobs.has("gone")).toBe(false);
    expect(kept(manifest(null, { jobs: ["odd"] })).jobs.has("odd")).toBe(true);
  });

  test("GC-4: scopes and DAGs cannot be told while one recent manifest does not tell them", () => {
    expect(kept(manifest(1, { scopes: null }))).toMatchObject({ scopes: null, dags: null });
    expect(kept(manifest(1, { dags: null }))).toMatchObject({ scopes: null, dags: null });
    expect(kept(manifest(8, { scopes: null }), manifest(1)).scopes).not.toBeNull();
  });
});

describe("GC-2, GC-7: which streams go", () => {
  const keep: KeepSets = {
    jobs: new Set(["backup", "a/b"]),
    hosts: new Set(["nodea"]),
    scopes: new Set(["global", "backup"]),
    dags: new Set(["etl"]),
  };
  const facts: StreamFacts = { pausedJobs: new Set(["backup"]), runScopes: new Set(["dagxcom/etl/1"]) };

  test.each(["runs", "logs", "catchup", "retries", "reboot", "inflight", "slots", "missed"])(
    "%s/ of a job nobody has",
    (family) => {
      expect(isOrphan(`${family}/gone`, keep, facts)).toBe(true);
      expect(isOrphan(`${family}/backup`, keep, facts)).toBe(false);
      expect(isOrphan(`${family}/a/b`, keep, facts)).toBe(false);
    },
  );

  test.each([
    ["paused/backup", false],
    ["paused/a/b", true],
    ["counters/nodea", false],
    ["counters/nodeb", true],
    ["manifests/nodea", false],
    ["manifests/nodeb", true],
    ["catchup-dag/etl", false],
    ["catchup-dag/gone", true],
    ["artifacts/global", false],
    ["artifacts/backup", false],
    ["artifacts/gone", true],
    ["artifacts/dagxcom/etl/1", false],
    ["artifacts/dagxcom/etl/2", true],
    ["meta", false],
    ["cluster/reboot-ran", false],
    ["somebody/else", false],
  ])("%s: %s", (stream, goes) => expect(isOrphan(stream, keep, facts)).toBe(goes));

  test("GC-4, D-GC-3: artifacts and DAG checkpoints stay while nobody can tell", () => {
    const unclear: KeepSets = { ...keep, scopes: null, dags: null };
    expect(isOrphan("artifacts/gone", unclear, facts)).toBe(false);
    expect(isOrphan("catchup-dag/gone", unclear, facts)).toBe(false);
    expect(isOrphan("artifacts/gone", keep, { ...facts, runScopes: null })).toBe(false);
    expect(isOrphan("runs/gone", unclear, facts)).toBe(true);
  });
});

describe("GC-3, D-GC-2: which run documents go", () => {
  const keep: KeepSets = { jobs: new Set(), hosts: new Set(), scopes: new Set(), dags: new Set(["etl"]) };
  const run = { state: "success", updatedAtSeconds: 50, owned: false };
  test.each<[string, boolean]>([
    ["terminal, old, of a DAG that is gone", isOrphanRun(run, "gone", keep, 100)],
    ["failed too", isOrphanRun({ ...run, state: "failed" }, "gone", keep, 100)],
  ])("%s", (_, goes) => expect(goes).toBe(true));
  test.each<[string, boolean]>([
    ["of a DAG somebody has", isOrphanRun(run, "etl", keep, 100)],
    ["not terminal", isOrphanRun({ ...run, state: "running" }, "gone", keep, 100)],
    ["advanced here", isOrphanRun({ ...run, owned: true }, "gone", keep, 100)],
    ["young", isOrphanRun({ ...run, updatedAtSeconds: 100 }, "gone", keep, 100)],
    ["of unknown age", isOrphanRun({ ...run, updatedAtSeconds: null }, "gone", keep, 100)],
    ["when DAGs cannot be told", isOrphanRun(run, "gone", { ...keep, dags: null }, 100)],
  ])("stays: %s", (_, goes) => expect(goes).toBe(false));
});

import { expect, test } from "vitest";
import { operationTraits } from "../../src/store/engine.ts";

test("operations go by the names that scrapers know (MET-3)", () => {
  expect([...new Set(Object.values(operationTraits).map(({ label }) => label))].toSorted()).toEqual([
    "append",
    "blob-get",
    "blob-put",
    "blob-sweep",
    "derive-max",
    "doc-list",
    "doc-mutate",
    "doc-read",
    "gc",
    "inventory",
    "lease-acquire",
    "lease-read",
    "lease-release",
    "lease-renew",
    "list",
    "list-stream-names",
    "lock-probe",
    "prune",
    "start",
  ]);
});

import { join } from "node:path";
import { expect, test } from "vitest";
import { migrateSchema } from "../../../src/store/admin/migrate-schema.ts";
import { storeReport } from "../../../src/store/admin/report.ts";
import { referenceStore } from "../../compat/reference-store.ts";
import { openedStore } from "../support/filesystem.ts";
import { done } from "../support/outcome.ts";
import { temporaryDirectory } from "../support/temporary.ts";

test("a check counts streams and records, those without a name too (state 21)", async () => {
  const store = await openedStore(join(referenceStore(), "store"), { deploymentId: "poison" });
  const report = storeReport(store.facts, await done(store.upkeep.inventory()));
  expect(report).toMatchObject({
    backend: "filesystem",
    namespace: "poison",
    topology: "single-node",
    sharedLocking: false,
  });
  expect(report).toMatchObject({ streams: 7, records: 22, quarantined: 0 });
  expect(report.recordsByPrefix).toEqual([
    { prefix: "artifacts", records: 3 },
    { prefix: "meta", records: 1 },
    { prefix: "retries", records: 2 },
    { prefix: "runs", records: 14 },
  ]);
});

test("a migration of the scheme converts nothing yet and tells what there is", () => {
  const root = referenceStore();
  expect(migrateSchema(join(root, "store/%44emo%2E%41pp"))).toEqual({
    converted: 0,
    current: 197,
    unknown: 0,
    unreadable: 0,
    failed: 0,
  });
  expect(migrateSchema(join(root, "store/poison"))).toEqual({
    converted: 0,
    current: 14,
    unknown: 4,
    unreadable: 4,
    failed: 0,
  });
  expect(() => migrateSchema(join(temporaryDirectory(), "none"))).toThrow("ENOENT");
});

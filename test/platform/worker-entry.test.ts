import { expect, test } from "vitest";
import { workerEntry } from "../../src/platform/worker-entry.ts";

test("a worker's entry stands beside its caller, in source and in a build", () => {
  expect(workerEntry("io", "file:///repo/src/store/store.ts").pathname).toBe("/repo/src/store/io.worker.ts");
  expect(workerEntry("io", "file:///opt/dist/chunk-abc.js").pathname).toBe("/opt/dist/io.worker.js");
});

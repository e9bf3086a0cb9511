import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { openFilesystemStore } from "../../../src/store/filesystem/open.ts";
import { writtenLog } from "../support/filesystem.ts";
import { done } from "../support/outcome.ts";
import { temporaryDirectory } from "../support/temporary.ts";

test("the store starts its threads from the sources as they are, and says what it is (LAY-5)", async () => {
  const path = join(temporaryDirectory(), "store");
  const { lines, log } = writtenLog();
  const options = {
    path,
    deploymentId: "Demo.App",
    topology: "shared",
    maxOpsPerSecond: 0,
    clock: systemClock,
    log,
  } as const;
  const store = await done(openFilesystemStore(options));
  onTestFinished(async () => void (await store.close(0)));
  const base = join(path, "%44emo%2E%41pp");
  expect(existsSync(base)).toBe(true);
  expect(lines.at(-1)).toBe(
    `INFO state: filesystem backend ready at ${base} (namespace=Demo.App, topology=shared, shared_locking=True)`,
  );
  expect(store.facts).toEqual({
    backend: "filesystem",
    location: base,
    namespace: "Demo.App",
    topology: "shared",
    sharedLocking: true,
  });
  await done(store.records.append("runs/a", {}));
  expect((await done(store.leases.acquire("slots/a", "a#1", 1000))).kind).toBe("held");
  expect((await done(store.records.streams("runs/"))).names).toEqual(["runs/a"]);
});

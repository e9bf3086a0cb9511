import { Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { type FilesystemStoreOptions, openFilesystemStore } from "../../../src/store/filesystem/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { bundled } from "./bundle.ts";
import { done } from "./outcome.ts";

/** A store in a directory, with real threads. The caller closes it. */
export function openStore(path: string, over: Partial<FilesystemStoreOptions> = {}): Promise<Store> {
  return done(
    openFilesystemStore({
      path,
      deploymentId: null,
      topology: "auto",
      maxOpsPerSecond: 0,
      clock: systemClock,
      log: silent,
      spawn: lanesFrom("src/store/filesystem/store-lane.worker.ts"),
      ...over,
    }),
  );
}

/** The same, closed when the test ends. */
export async function openedStore(path: string, over: Partial<FilesystemStoreOptions> = {}): Promise<Store> {
  const store = await openStore(path, over);
  onTestFinished(async () => {
    await store.close(0);
  });
  return store;
}

const silent = { info: () => undefined, warning: () => undefined };

/** A log that remembers its lines. */
export function writtenLog() {
  const lines: string[] = [];
  return {
    lines,
    log: {
      info: (message: string) => void lines.push(`INFO ${message}`),
      warning: (message: string) => void lines.push(`WARNING ${message}`),
    },
  };
}

/** Starts the threads of a store from a compiled worker, without what the tests' own process was started with. */
export function lanesFrom(worker: string): NonNullable<FilesystemStoreOptions["spawn"]> {
  const entry = bundled(worker);
  return (_, workerData) => new Worker(entry, { workerData, execArgv: [] });
}

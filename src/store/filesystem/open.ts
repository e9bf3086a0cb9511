import { randomBytes } from "node:crypto";
import { Worker } from "node:worker_threads";
import type { Topology } from "../../config/model.ts";
import type { Logger } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import { workerEntry } from "../../platform/worker-entry.ts";
import type { Lane } from "../engine.ts";
import { storeOver } from "../front/store.ts";
import { OPERATION_DEADLINE_MS } from "../limits.ts";
import type { Outcome, Store } from "../store.ts";
import type { LaneData } from "./lane-messages.ts";
import { openLanes } from "./lanes.ts";
import { storeLayout } from "./volume.ts";

export interface FilesystemStoreOptions {
  /** Directory of the store, absolute. */
  readonly path: string;
  /** Null for the namespace `default`. */
  readonly deploymentId: string | null;
  readonly topology: Topology;
  /** Average rate of operations other than leases; 0 for no limit (RAT-1). */
  readonly maxOpsPerSecond: number;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warning">;
  /** By default 10 s. */
  readonly startDeadlineMs?: number;
  /** Starts the thread of a lane; one that serves it over another disk may stand in (`serveLane`). */
  readonly spawn?: (lane: Lane, workerData: LaneData) => Worker;
}

/** Bases whose last start has not come back from the operating system. */
const hanging = new Set<string>();

/**
 * Opens the store of one deployment in a directory (state 4) and makes it where it is missing (GEN-6).
 *
 * Starts one thread; reads and leases get theirs when they are first used. A start that hangs is not repeated: until it comes
 * back, opening the same store answers "unknown" at once.
 */
export async function openFilesystemStore(options: FilesystemStoreOptions): Promise<Outcome<Store>> {
  const { path, deploymentId, topology, maxOpsPerSecond, clock, log } = options;
  const { base } = storeLayout(path, deploymentId);
  if (hanging.has(base)) return { kind: "unknown", because: `an earlier start of the store at ${base} still hangs` };
  const spawn = options.spawn ?? spawnLane;
  const executor = openLanes({
    clock,
    maxOpsPerSecond,
    warn: (message) => log.warning(message),
    spawn(lane) {
      const worker = spawn(lane, { path, deploymentId, writer: randomBytes(6).toString("hex") });
      worker.on("exit", () => hanging.delete(base));
      return worker;
    },
  });
  const started = await executor.call("start", { topology }, options.startDeadlineMs ?? OPERATION_DEADLINE_MS);
  if (started.kind !== "done") {
    const { threads } = await executor.close(0);
    if (threads === "hung") hanging.add(base);
    return started;
  }
  const facts = started.value;
  const shared = facts.sharedLocking ? "True" : "False";
  log.info(
    `state: filesystem backend ready at ${facts.location} (namespace=${facts.namespace}, topology=${facts.topology}, shared_locking=${shared})`,
  );
  return { kind: "done", value: storeOver(executor, facts, clock.elapsedNow) };
}

function spawnLane(lane: Lane, workerData: LaneData): Worker {
  return new Worker(workerEntry("store-lane", import.meta.url), { workerData, name: `store-${lane}` });
}

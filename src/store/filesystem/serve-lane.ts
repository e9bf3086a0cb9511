import { parentPort, workerData } from "node:worker_threads";
import type { Disk } from "./disk.ts";
import { filesystemEngine } from "./engine.ts";
import { laneHost } from "./lane-host.ts";
import { type FromLane, type LaneData, sharedElapsedMs, type ToLane } from "./lane-messages.ts";

/** Serves one lane of a store from the worker thread this is called in, until the main thread ends it. */
export function serveLane(disk: Disk, clock: { wallMicros(): number }): void {
  const port = parentPort;
  if (port === null) throw new Error("a store lane runs in a worker thread");
  const data: LaneData = workerData;
  const engine = filesystemEngine(data, disk, clock, (message) => host.warn(message));
  const post = (message: FromLane): void => port.postMessage(message, payloads(message));
  const host = laneHost(engine, sharedElapsedMs, post, (delayMs, run) => void setTimeout(run, delayMs));
  port.on("message", (message: ToLane) => {
    host.receive(message);
    if (message.kind === "end") port.close();
  });
}

/** Buffers of their own are handed over instead of being copied. */
function payloads(message: FromLane): ArrayBuffer[] {
  return message.answers.flatMap(({ outcome }) => {
    const value: unknown = outcome.kind === "done" ? outcome.value : null;
    if (!(value instanceof Uint8Array) || !(value.buffer instanceof ArrayBuffer)) return [];
    return value.byteLength === value.buffer.byteLength ? [value.buffer] : [];
  });
}

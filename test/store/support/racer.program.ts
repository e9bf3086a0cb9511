import { appendFileSync } from "node:fs";
import { wallMicros } from "../../../src/platform/wall-micros.ts";
import { attempt } from "../../../src/store/attempt.ts";
import type { ArgumentsOf, Operation, ResultOf } from "../../../src/store/engine.ts";
import { filesystemEngine } from "../../../src/store/filesystem/engine.ts";
import { systemDisk } from "../../../src/store/filesystem/system-disk.ts";

/**
 * One of several processes that want the same lease or the same document.
 *
 * `node racer.mjs <store path> lease <cycles> <log>` takes, renews and gives back a lease, and writes `+ fence` and `- fence` into the
 * log while it has it. `node racer.mjs <store path> count <times>` adds one to a counter, again and again.
 */
const [path = "", task = "", times = "0", log = ""] = process.argv.slice(2);
const holder = `racer#${process.pid}`;
const writer = process.pid.toString(16).padStart(12, "0");
const engine = filesystemEngine({ path, deploymentId: null, writer }, systemDisk, { wallMicros }, () => undefined);

for (let n = 0; n < Number(times); n++) {
  if (task === "lease") takeRenewRelease();
  else addOne();
}

function takeRenewRelease(): void {
  for (;;) {
    const acquired = insist("acquireLease", { name: "slots/race", holder, ttlSeconds: 60 });
    if (acquired.kind !== "held") continue;
    const { lease } = acquired;
    appendFileSync(log, `+ ${lease.fence}\n`);
    const renewed = insist("renewLease", { lease, ttlSeconds: 60 });
    if (renewed.kind !== "held") throw new Error(`lost fence ${lease.fence} while holding it`);
    appendFileSync(log, `- ${lease.fence}\n`);
    insist("releaseLease", { lease: renewed.lease });
    return;
  }
}

function addOne(): void {
  const place = { namespace: "cursor/race", key: "n" };
  for (let current = insist("readDocument", place); ; ) {
    const value = current.text === null ? 0 : JSON.parse(current.text).data.value;
    const text = JSON.stringify({ data: { value: value + 1 }, schemaVersion: "v1" });
    const swap = insist("swapDocument", { ...place, version: current.version, text });
    if (swap.swapped) return;
    current = swap.current;
  }
}

/** Until the lock is free. */
function insist<K extends Operation>(operation: K, args: ArgumentsOf<K>): ResultOf<K> {
  for (;;) {
    const outcome = attempt(engine, operation, args);
    if (outcome.kind === "done") return outcome.value;
    if (outcome.kind !== "busy") throw new Error(JSON.stringify(outcome));
  }
}

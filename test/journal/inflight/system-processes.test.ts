import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { isSameProcess } from "../../../src/journal/inflight/inflight.rules.ts";
import type { OpenRecord } from "../../../src/journal/inflight/inflight-record.ts";
import { systemProcesses } from "../../../src/journal/inflight/system-processes.ts";
import { systemClock } from "../../../src/platform/clock.ts";

test.runIf(process.platform === "linux")(
  "INF-4: a process is known by its boot and start, until it is gone",
  async () => {
    const processes = systemProcesses(systemClock);
    const child = spawn("sleep", ["60"]);
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    const sight = processes.look(pid);
    const { identity } = sight.kind === "exists" ? sight : { identity: null };
    expect(identity).toMatch(/^[0-9a-f-]{36}\/\d+$/);
    const record: OpenRecord = {
      kind: "open",
      host: "here",
      proc: "1",
      pid,
      startedAt: systemClock.wallNow(),
      jobDigest: "d",
      pidIdentity: null,
      runId: null,
    };
    expect(isSameProcess(record, sight)).toBe(true);
    // Of builds that do not write the identity the start alone decides: this record is from well before the process.
    expect(isSameProcess({ ...record, startedAt: record.startedAt - 3_600_000 }, sight)).toBe(false);
    // F58: the parent is alive and older than the record; its identity tells it apart.
    expect(isSameProcess({ ...record, pidIdentity: identity }, processes.look(process.pid))).toBe(false);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(processes.look(pid)).toEqual({ kind: "gone" });
  },
);

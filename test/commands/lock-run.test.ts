import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobApi } from "../../src/jobapi/job-api.ts";
import { memoryMedium } from "../../src/store/memory/medium.ts";
import { aRun, startEndpoint } from "../support/job-api.ts";
import { startCommand } from "../support/job-command.ts";
import { scriptOf } from "../support/wire.ts";

const medium = memoryMedium();
let api: JobApi;
let elsewhere: JobApi;
let probes = 0;
beforeAll(async () => {
  elsewhere = await startEndpoint({ medium });
  api = await startEndpoint({
    medium,
    config: { lockTtlSeconds: 5 },
    conduct: (operation) => {
      if (operation === "acquireLease") probes++;
      return { kind: "answer" };
    },
  });
});
afterAll(async () => {
  await api.stop();
  await elsewhere.stop();
});

async function jobOf(name: string) {
  const run = aRun({ name });
  const { environment } = await api.register(run);
  const start = (...args: string[]) => startCommand(environment, args);
  return { environment, start, end: () => api.release(run.runId) };
}

/** Whether a run on another node would get the lock now, that is at once. */
async function isFree(lock: string): Promise<boolean> {
  const script = scriptOf((await elsewhere.register(aRun())).environment);
  const answer = await script.ask("POST", "/v1/lock/acquire", JSON.stringify({ scope: "global", name: lock }));
  return answer.includes('"acquired": true');
}

/** A command that says when it runs, and lasts until it is told to end. */
const lasting = ["sh", "-c", "echo ready; exec sleep 60"];
const trapping = [
  process.execPath,
  "-e",
  `for (const signal of ["SIGTERM", "SIGINT"])
     process.on(signal, () => { console.log("cleaned"); process.exit(3); });
   setTimeout(() => {}, 60_000);
   console.log("ready");`,
];

describe("lock run", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("passes %s on, exits as the command does, and lets go", async (signal, code) => {
    const { start } = await jobOf("signals");
    const running = start("lock", "run", "--global", signal, "--", ...lasting);
    await running.firstOutput;
    expect(await isFree(signal)).toBe(false);
    running.kill(signal);
    expect(await running.ended).toEqual({ code, stdout: "ready\n", stderr: "" });
    expect(await isFree(signal)).toBe(true);
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "lets the command clean up at %s before the lock is free",
    async (signal) => {
      const { start } = await jobOf("cleanup");
      const running = start("lock", "run", "--global", `clean ${signal}`, "--", ...trapping);
      await running.firstOutput;
      running.kill(signal);
      expect(await running.ended).toEqual({ code: 3, stdout: "ready\ncleaned\n", stderr: "" });
      expect(await isFree(`clean ${signal}`)).toBe(true);
    },
  );

  test("that waits starts nothing once it is told to end, and never gets the lock", async () => {
    const before = probes;
    const waiter = await jobOf("waiter");
    const other = await elsewhere.register(aRun());
    await scriptOf(other.environment).ask("POST", "/v1/lock/acquire", '{"scope":"global","name":"waited for"}');
    const waiting = waiter.start(
      "lock",
      "run",
      "--global",
      "waited for",
      "--wait",
      "--timeout",
      "600",
      "--",
      "echo",
      "ran",
    );
    await expect.poll(() => probes, { timeout: 20_000 }).toBeGreaterThan(before);
    waiting.kill("SIGTERM");
    expect(await waiting.ended).toEqual({ code: 143, stdout: "", stderr: "" });
    await elsewhere.release(other.environment.CRONSTABLE_RUN_ID ?? "");
    expect(await isFree("waited for")).toBe(true);
  });

  test("gives up when its run ends while it waits, and what the run holds is free then", async () => {
    const holder = await jobOf("ending");
    expect((await holder.start("lock", "acquire", "--global", "run's end").ended).stdout).toMatch(/^[0-9a-f]{32}\n$/);
    expect(await isFree("run's end")).toBe(false);
    const other = await elsewhere.register(aRun());
    await scriptOf(other.environment).ask("POST", "/v1/lock/acquire", '{"scope":"global","name":"never"}');
    const before = probes;
    const waiting = holder.start("lock", "run", "--global", "never", "--wait", "--timeout", "600", "--", "echo", "ran");
    await expect.poll(() => probes, { timeout: 20_000 }).toBeGreaterThan(before);
    await holder.end();
    expect(await waiting.ended).toEqual({ code: 3, stdout: "", stderr: "lock not acquired: never\n" });
    expect(await isFree("run's end")).toBe(true);
  });

  test("tells when it could not let go, and exits as the command did", async () => {
    const { start, end } = await jobOf("late");
    const running = start("lock", "run", "m", "--", ...trapping);
    await running.firstOutput;
    await end();
    running.kill("SIGTERM");
    const ended = await running.ended;
    expect(ended).toEqual({
      code: 3,
      stdout: "ready\ncleaned\n",
      stderr: "cronstable lock: the lock was not released and frees itself later: 401: Unauthorized\n",
    });
  });

  test.runIf(process.platform === "linux")("shows the token to nobody who lists processes", async () => {
    const { environment, start } = await jobOf("secretive");
    const running = start("lock", "run", "m", "--", ...lasting);
    await running.firstOutput;
    expect(readFileSync(`/proc/${running.pid}/cmdline`, "utf8")).not.toContain(environment.CRONSTABLE_STATE_TOKEN);
    running.kill("SIGTERM");
    await running.ended;
  });
});

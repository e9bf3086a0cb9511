import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Folder, type Program, withFolder } from "../support/daemon-process.ts";

const everySecond = `schedule: "* * * * * * *"`;

/** A configuration with a store in the folder and the API on a port of the system's choice. */
function configured({ path, write }: Folder, jobs: string, name = "c.yaml"): string {
  return write(name, `state:\n  path: ${path}/store\nweb:\n  listen: ["http://127.0.0.1:0"]\njobs:\n${jobs}`);
}

async function address(daemon: Program): Promise<string> {
  const [, port] = await daemon.seen(/web: started listening on http:\/\/127\.0\.0\.1:0 \(port (\d+)\)/);
  return `http://127.0.0.1:${port}`;
}

async function get(daemon: Program, path: string): Promise<unknown> {
  return (await fetch(`${await address(daemon)}${path}`)).json();
}

/** Kills the daemon alone: what it started goes on. */
function killed({ child }: Program): Promise<unknown> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  return gone;
}

/** A killed process is there until its parent, here the system's first process, has taken note of it. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Bodies of a stream on disk, oldest first. */
function records(path: string, stream: string): Record<string, unknown>[] {
  const folder = join(path, "store/default/records", encodeURIComponent(stream));
  return readdirSync(folder)
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")).data);
}

describe("a daemon that was killed", () => {
  test("GEN-1, TOP-2, REH-1, RET-5, RET-9, F-33, F-35, F-39, F-41: shows its history again, and goes on with a retry when that is due", () =>
    withFolder(async (folder) => {
      const { path, start } = folder;
      const config = configured(
        folder,
        `  - name: flaky
    command: echo "run of $CRONSTABLE_ATTEMPT" >> ${path}/runs; exit 1
    schedule: "@reboot"
    onFailure:
      retry: {maximumRetries: -1, initialDelay: 8, maximumDelay: 8, backoffMultiplier: 1}
`,
      );
      const first = start("-c", config);
      await first.seen(/scheduled to be retried \(#1\) in 8\.0 seconds/);
      await expect.poll(() => records(path, "retries/flaky").length, { timeout: 20_000 }).toBe(1);
      await killed(first);

      const second = start("-c", config);
      await second.seen(/Job flaky: re-armed pending retry #1 from the durable ledger \(due in \d+\.\d seconds\)/);
      await second.seen(/Job flaky \(@reboot\) already ran during this OS boot; skipping/);
      const { runs } = (await get(second, "/jobs/flaky/runs")) as { runs: unknown[] };
      expect(runs[0]).toMatchObject({ trigger: { kind: "boot" }, outcome: "failure", exit_code: 1 });
      await second.seen(/scheduled to be retried \(#2\)/);
      expect(readFileSync(`${path}/runs`, "utf8")).toBe("run of 0\nrun of 1\n");
      const [armed] = records(path, "retries/flaky") as { at: string; notBefore: string }[];
      expect(Date.parse(armed?.notBefore ?? "") - Date.parse(armed?.at ?? "")).toBe(8000);
      const settled = records(path, "retries/flaky").filter(({ kind }) => kind === "settled");
      expect(settled).toMatchObject([{ reason: "launched", attempt: 1 }]);
    }));

  test("INF-7, INF-9: a run that died with it becomes a row of unknown outcome", () =>
    withFolder(async (folder) => {
      const config = configured(folder, `  - {name: long, schedule: "@reboot", command: exec sleep 600}\n`);
      const first = folder.start("-c", config);
      await first.seen(/Job long spawned/);
      await expect.poll(() => records(folder.path, "inflight/long").length, { timeout: 20_000 }).toBe(1);
      const [open] = records(folder.path, "inflight/long") as { pid: number }[];
      await killed(first);
      process.kill(open?.pid ?? 0, "SIGKILL");
      await expect.poll(() => isThere(open?.pid ?? 0), { timeout: 20_000 }).toBe(false);

      const second = folder.start("-c", config);
      await second.seen(/Job long: reconciled an interrupted run \(reconciled-crash\): run interrupted: no completion/);
      expect(await get(second, "/jobs/long/runs")).toMatchObject({ runs: [{ outcome: "unknown", started_at: null }] });
    }));

  test("F57: a run that outlived it keeps a Forbid job from running twice, and its record is closed when it ends", () =>
    withFolder(async (folder) => {
      const { path } = folder;
      const config = configured(
        folder,
        `  - {name: long, ${everySecond}, concurrencyPolicy: Forbid, command: "echo $$ >> ${path}/pids; exec sleep 600"}\n`,
      );
      const first = folder.start("-c", config);
      await first.seen(/Job long spawned/);
      await expect.poll(() => records(path, "inflight/long").length, { timeout: 20_000 }).toBe(1);
      await killed(first);
      const second = folder.start("-c", config);
      await second.seen(
        /the previous daemon's run \(pid \d+\) still appears to be running; leaving its in-flight record open/,
      );
      await second.seen(/the previous daemon's run \(pid \d+\) still goes on and concurrencyPolicy is Forbid/);
      const started = await fetch(`${await address(second)}/jobs/long/start`, { method: "POST" });
      expect(await started.json()).toEqual({ started: "long", launched: false, reason: "forbidden" });
      const pids = () => readFileSync(`${path}/pids`, "utf8").trim().split("\n");
      expect(pids()).toHaveLength(1);
      process.kill(Number(pids()[0]), "SIGKILL");
      await second.seen(/Job long spawned/);
      await expect.poll(() => pids().length, { timeout: 20_000 }).toBe(2);
      process.kill(Number(pids()[1]), "SIGKILL");
    }));

  test.each([
    ["run-all", /catch-up: replaying ([2-9]|\d\d) missed run\(s\) for late/],
    ["run-once", /catch-up: replaying 1 missed run\(s\) for late/],
  ])("CAT-1, CAT-6: slots it missed are made up for (%s)", (onMissed, replays) =>
    withFolder(async (folder) => {
      const config = configured(folder, `  - {name: late, ${everySecond}, onMissed: ${onMissed}, command: "true"}\n`);
      const first = folder.start("-c", config);
      await expect.poll(() => first.stderr(), { timeout: 20_000 }).toMatch(/(Job late exit code 0[\s\S]*){2}/);
      await killed(first);
      const diedAt = Date.now();
      await expect.poll(() => Date.now() - diedAt, { timeout: 20_000 }).toBeGreaterThan(3000);
      const second = folder.start("-c", config);
      await second.seen(replays);
      await expect
        .poll(() => records(folder.path, "catchup/late").map(({ kind }) => kind), { timeout: 20_000 })
        .toEqual(["open", "close"]);
    }),
  );
});

test("16.3: a pause outlives the daemon; a resume ends it for good", () =>
  withFolder(async (folder) => {
    const config = configured(folder, `  - {name: held, ${everySecond}, command: "true"}\n`);
    const first = folder.start("-c", config);
    const url = await address(first);
    const paused = await fetch(`${url}/jobs/held/pause`, { method: "POST", body: `{"note": "night shift"}` });
    expect(paused.status).toBe(200);
    await first.seen(/Job held skipped: paused until .* \(night shift\)/);
    await expect.poll(() => records(folder.path, "paused/held").length, { timeout: 20_000 }).toBe(1);
    await killed(first);
    const second = folder.start("-c", config);
    await second.seen(/Job held skipped: paused until .* \(night shift\)/);
    await fetch(`${await address(second)}/jobs/held/resume`, { method: "POST" });
    await second.seen(/Job held exit code 0/);
    expect(records(folder.path, "paused/held")).toMatchObject([{ kind: "paused" }, { kind: "resumed" }]);
  }));

test("ARC-1, ARC-2: what a run printed is kept, scrubbed, and served after a restart", () =>
  withFolder(async (folder) => {
    const config = configured(
      folder,
      `  - {name: talks, schedule: "@reboot", command: "echo hello; echo API_TOKEN=hush", captureStdout: true, archiveOutput: true}\n`,
    );
    const first = folder.start("-c", config);
    await first.seen(/Job talks exit code 0/);
    await expect.poll(() => records(folder.path, "logs/talks").length, { timeout: 20_000 }).toBe(1);
    await killed(first);
    expect(records(folder.path, "logs/talks")).toMatchObject([
      { lines: [{ line: "hello\n" }, { line: "API_TOKEN=***REDACTED***\n" }], redacted: true },
    ]);
  }));

test("GEN-3, GEN-6: without its store the daemon runs its jobs from memory, and says so", () =>
  withFolder(async (folder) => {
    const config = configured(folder, `  - {name: tick, ${everySecond}, command: "true"}\n`);
    folder.write("store", "a file where the folder should be");
    const daemon = folder.start("-c", config);
    await daemon.seen(/ERROR:cronstable\.state:state: failed to start: /);
    await daemon.seen(/Job tick exit code 0/);
    expect(await get(daemon, "/jobs/tick/trends")).toMatchObject({ source: "memory" });
    daemon.child.kill("SIGTERM");
    expect(await daemon.ended).toBe(0);
  }));

test("running 7, LSE-1: two daemons on one store never run a Forbid job of cluster scope at the same time", () =>
  withFolder(async (folder) => {
    const { path } = folder;
    const job = `  - name: one
    ${everySecond}
    concurrencyPolicy: Forbid
    concurrencyScope: cluster
    command: mkdir ${path}/inside || echo both >> ${path}/both; sleep 1.5; rmdir ${path}/inside; echo ran >> ${path}/ran
`;
    const config = configured(folder, job);
    const nodes = ["a", "b"].map((name) => folder.start("--node-id", name, "-c", config));
    await Promise.any(nodes.map(({ seen }) => seen(/Job one skipped: its cluster concurrency slot is held by [ab] /)));
    await expect
      .poll(() => readdirSync(path).includes("ran") && readFileSync(`${path}/ran`, "utf8").length > 12, {
        timeout: 30_000,
      })
      .toBe(true);
    for (const { child } of nodes) child.kill("SIGTERM");
    expect(await Promise.all(nodes.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(readdirSync(path)).not.toContain("both");
    const hosts = new Set(records(path, "inflight/one").map(({ host }) => host));
    expect([...hosts].every((host) => host === "a" || host === "b")).toBe(true);
  }));

test("http 35: a store that is lost while the daemon runs shows in the metrics, and jobs keep firing", () =>
  withFolder(async (folder) => {
    const config = configured(folder, `  - {name: tick, ${everySecond}, command: "true"}\n`);
    const daemon = folder.start("-c", config);
    await expect.poll(() => daemon.stderr(), { timeout: 20_000 }).toMatch(/Job tick exit code 0/);
    renameSync(`${folder.path}/store`, `${folder.path}/moved`);
    folder.write("store", "a file where the folder was");
    const url = await address(daemon);
    const scraped = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
    await expect
      .poll(scraped, { timeout: 25_000 })
      .toMatch(/cronstable_state_dropped_writes_total\{[^}]*kind="run-record"[^}]*\} [1-9]/);
    const text = await scraped();
    expect(text).toMatch(/cronstable_state_op_errors_total\{[^}]*op="append"[^}]*\} [1-9]/);
    expect(text).toContain('cronstable_job_runs_total{job_name="tick",status="success"}');
    const before = daemon.stderr().split("Job tick exit code 0").length;
    await expect
      .poll(() => daemon.stderr().split("Job tick exit code 0").length, { timeout: 20_000 })
      .toBeGreaterThan(before);
  }));

test("GEN-1, GEN-2, RET-1, F-15: without a state section no file is written, and a restart knows nothing", () =>
  withFolder(async (folder) => {
    const { path, write, start } = folder;
    const job = `  - name: flaky
    command: "false"
    ${everySecond}
    onFailure:
      retry: {maximumRetries: 3, initialDelay: 60, maximumDelay: 60, backoffMultiplier: 1}
`;
    const config = write("c.yaml", `web:\n  listen: ["http://127.0.0.1:0"]\njobs:\n${job}`);
    const first = start("-c", config);
    await first.seen(/scheduled to be retried/);
    await killed(first);
    expect(readdirSync(path)).toEqual(["c.yaml"]);
    const second = start("-c", config);
    await second.seen(/Job set id/);
    expect(second.stderr()).not.toMatch(/re-armed|rehydrated|state:/);
  }));

test("JAP-3, CFG-4: with the endpoint switched off jobs are given none, and everything else is kept", () =>
  withFolder(async (folder) => {
    const { path, write, start } = folder;
    const job = `  - {name: shows, command: 'env > ${path}/new; mv ${path}/new ${path}/env', ${everySecond}}\n`;
    const config = write("c.yaml", `state: {path: ${path}/store, jobApi: {enabled: false}}\njobs:\n${job}`);
    const daemon = start("-c", config);
    await daemon.seen(/Job shows exit code 0/);
    await expect
      .poll(() => existsSync(join(path, "store/default/records/runs%2Fshows")), { timeout: 20_000 })
      .toBe(true);
    expect(daemon.stderr()).not.toContain("job API listening");
    expect(readFileSync(join(path, "env"), "utf8")).toContain("PATH=");
    expect(readFileSync(join(path, "env"), "utf8")).not.toContain("CRONSTABLE_");
  }));

test("RET-4, F-37: a stop leaves a waiting retry as it is, and the next start goes on with it", () =>
  withFolder(async (folder) => {
    const config = configured(
      folder,
      `  - name: flaky
    command: "false"
    schedule: "@reboot"
    onFailure:
      retry: {maximumRetries: -1, initialDelay: 600, maximumDelay: 600, backoffMultiplier: 1}
`,
    );
    const first = folder.start("-c", config);
    await first.seen(/scheduled to be retried \(#1\)/);
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    expect(records(folder.path, "retries/flaky").map(({ kind }) => kind)).toEqual(["pending"]);
    const second = folder.start("-c", config);
    await second.seen(/Job flaky: re-armed pending retry #1 from the durable ledger/);
  }));

test("F-40, RET-6: a retry of a job that was changed meanwhile is settled, with the reason", () =>
  withFolder(async (folder) => {
    const job = (command: string): string => `  - name: flaky
    command: "${command}"
    schedule: "0 0 1 1 *"
    onFailure:
      retry: {maximumRetries: 3, initialDelay: 600, maximumDelay: 600, backoffMultiplier: 1}
`;
    const first = folder.start("-c", configured(folder, job("false").replace("0 0 1 1 *", "* * * * * * *")));
    await first.seen(/scheduled to be retried \(#1\)/);
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    const second = folder.start("-c", configured(folder, job("true")));
    await second.seen(/Job flaky: pending retry #\d+ was not armed again: config-changed/);
    await expect
      .poll(() => records(folder.path, "retries/flaky").at(-1), { timeout: 20_000 })
      .toMatchObject({ kind: "settled", reason: "config-changed" });
  }));

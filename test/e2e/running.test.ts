import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Folder, type Program, withApi, withFolder } from "../support/daemon-process.ts";
import { gone } from "../support/gone.ts";

interface Row {
  readonly outcome: string;
  readonly exit_code: number;
  readonly fail_reason: string | null;
  readonly duration: number;
}

/** A job that only runs when asked to. */
const job = (name: string, command: string | readonly string[], more: object = {}): string =>
  JSON.stringify({ name, command, schedule: "0 0 1 1 *", ...more });

async function withJobs(folder: Folder, ...jobs: readonly string[]) {
  const { daemon, url } = await withApi(folder, jobs.join(", "));
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of a body it says itself
  const get = async (path: string): Promise<any> => (await fetch(url + path)).json();
  const start = (name: string): Promise<Response> => fetch(`${url}/jobs/${name}/start`, { method: "POST" });
  return {
    daemon,
    url,
    get,
    start,
    running: async (): Promise<number> => (await get("/summary")).jobs.running,
    /** Its newest run, once it has ended. */
    async ended(name: string): Promise<Row> {
      await expect.poll(async () => (await get(`/jobs/${name}`)).running, { timeout: 25_000 }).toBe(false);
      return (await get(`/jobs/${name}/runs?limit=1`)).runs[0];
    },
    log: async (name: string): Promise<string> => (await fetch(`${url}/jobs/${name}/logs`)).text(),
  };
}

const openFiles = ({ child }: Program): number => readdirSync(`/proc/${child.pid}/fd`).length;
const residentKiB = ({ child }: Program): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]);

test("F32: a command killed by a signal fails, as text and as list", () =>
  withFolder(async (folder) => {
    const signals = { KILL: -9, TERM: -15, SEGV: -11 };
    const shells = Object.keys(signals).flatMap((signal) => [
      job(`text-${signal}`, `kill -${signal} $$`),
      job(`list-${signal}`, ["/bin/sh", "-c", `kill -${signal} $$`]),
    ]);
    const { start, ended, running, url } = await withJobs(folder, ...shells);
    for (const [signal, exitCode] of Object.entries(signals))
      for (const form of ["text", "list"]) {
        await start(`${form}-${signal}`);
        expect(await ended(`${form}-${signal}`)).toMatchObject({ outcome: "failure", exit_code: exitCode });
      }
    expect(await running()).toBe(0);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics.match(/^cronstable_job_runs_total\{.*status="failure".*\} 1$/gm)).toHaveLength(6);
  }));

// The kill and the 30 seconds of its streams are real time here; in virtual time the launcher's tests have it.
test.skipIf(process.env.LONG_TESTS_TOO === undefined)(
  "F33: what left the session and holds the output cannot pin its run (skipped without LONG_TESTS_TOO)",
  { timeout: 60_000 },
  () =>
    withFolder(async (folder) => {
      const pidFile = `${folder.path}/pid`;
      const command = `setsid sh -c 'echo $$ > ${pidFile}; exec sleep 300' & echo x; sleep 60`;
      const limits = { captureStdout: true, executionTimeout: 1, killTimeout: 0, concurrencyPolicy: "Forbid" };
      const { daemon, start, get, log } = await withJobs(folder, job("pinned", command, limits));
      const before = openFiles(daemon);
      await start("pinned");
      try {
        await expect.poll(async () => (await get("/jobs/pinned")).running, { timeout: 50_000 }).toBe(false);
        expect((await get("/jobs/pinned/runs")).runs).toMatchObject([{ outcome: "failure", exit_code: -100 }]);
        expect(await log("pinned")).toContain('"line":"x"');
        await expect.poll(() => openFiles(daemon)).toBeLessThanOrEqual(before + 2); // connections of this test
        expect(await (await start("pinned")).json()).toMatchObject({ launched: true });
      } finally {
        execFileSync("pkill", ["-KILL", "-s", readFileSync(pidFile, "utf8").trim()]);
      }
    }),
);

test("F34: without capture nothing is waited for; with it the helper is, and a cancel ends both at once", () =>
  withFolder(async (folder) => {
    const helper = `sleep 300 & echo $! > ${folder.path}/`;
    const { start, ended, get, url } = await withJobs(
      folder,
      job("free", `${helper}free`, { captureStdout: false, captureStderr: false }),
      job("held", `${helper}held`, { captureStdout: false, captureStderr: true }),
    );
    await start("free");
    expect(await ended("free")).toMatchObject({ outcome: "success" });
    process.kill(Number(readFileSync(`${folder.path}/free`, "utf8")), "SIGKILL");
    await start("held");
    await expect.poll(() => readdirSync(folder.path)).toContain("held");
    expect((await get("/jobs/held")).running).toBe(true);
    await fetch(`${url}/jobs/held/cancel`, { method: "POST" });
    expect(await ended("held")).toMatchObject({ outcome: "cancelled" });
    await gone(Number(readFileSync(`${folder.path}/held`, "utf8")));
  }));

test("F35: of many quick runs every exit code is the command's own", () =>
  withFolder(async (folder) => {
    const names = Array.from({ length: 60 }, (_, index) => `j${index}`);
    const jobs = names.map((name, index) => job(name, `sh -c 'true & exit 0' & exit ${index % 10}`));
    const { start, ended } = await withJobs(folder, ...jobs);
    await Promise.all(names.map(start));
    for (const [index, name] of names.entries())
      expect([name, (await ended(name)).exit_code]).toEqual([name, index % 10]);
  }));

test("F36: a command that cannot start is an ordinary failure, whose log names program and directory", () =>
  withFolder(async (folder) => {
    mkdirSync(`${folder.path}/shell`);
    writeFileSync(`${folder.path}/script`, "echo hi\n", { mode: 0o644 });
    const retried = { retry: { maximumRetries: 1, initialDelay: 0, maximumDelay: 1, backoffMultiplier: 1 } };
    const cases = {
      program: job("program", ["/nonexistent/exe"], { onFailure: retried }),
      directory: job("directory", "true", { workingDirectory: "/nonexistent/dir" }),
      shell: job("shell", "true", { shell: `${folder.path}/shell` }),
      script: job("script", [`${folder.path}/script`]),
      nul: job("nul", ["echo", "a\0b"]),
      long: job("long", ["echo", "x".repeat(200_000)]),
    };
    const { daemon, start, ended, url } = await withJobs(folder, ...Object.values(cases));
    for (const name of Object.keys(cases)) {
      await start(name);
      expect([name, await ended(name)]).toMatchObject([
        name,
        { outcome: "failure", exit_code: 127, fail_reason: "command exited with code 127" },
      ]);
    }
    expect(daemon.stderr()).toMatch(/Error launching subprocess of job program, cmd=.*\/nonexistent\/exe/);
    expect(daemon.stderr()).toMatch(/Error launching subprocess of job directory, .*\/nonexistent\/dir/);
    expect((await fetch(`${url}/version`)).status).toBe(200);
  }));

test("F39: bytes that are no text are replaced, and noise of megabytes is taken", () =>
  withFolder(async (folder) => {
    const capture = { captureStdout: true };
    const { start, ended, log } = await withJobs(
      folder,
      job("bytes", "printf 'a\\200b\\000c\\n'", capture),
      job("noise", "head -c 5000000 /dev/urandom", capture),
    );
    await start("bytes");
    expect(await ended("bytes")).toMatchObject({ outcome: "success" });
    const [, data = ""] = /^data: (.*)$/m.exec(await log("bytes")) ?? [];
    expect(JSON.parse(data)).toEqual({ stream: "stdout", line: "a\ufffdb\0c" });
    await start("noise");
    expect(await ended("noise")).toMatchObject({ outcome: "success" });
  }));

test("F40: an endless line keeps memory flat, and what follows is captured", () =>
  withFolder(async (folder) => {
    const command = "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo after";
    const options = { captureStdout: true, maxLineLength: 1000 };
    const { daemon, start, ended, log } = await withJobs(folder, job("endless", command, options), job("warm", "true"));
    await start("warm");
    await ended("warm");
    const before = residentKiB(daemon);
    await start("endless");
    expect(await ended("endless")).toMatchObject({ outcome: "success" });
    expect(residentKiB(daemon) - before).toBeLessThan(50 * 1024);
    expect((await log("endless")).match(/^data: .*line.*$/gm)).toEqual(['data: {"stream":"stdout","line":"after"}']);
    expect(daemon.stderr().match(/WARNING:.*endless.*/g)).toHaveLength(1);
  }));

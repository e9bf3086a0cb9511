import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { cronstable, withFolder } from "../support/daemon-process.ts";

const everySecond = (name: string, command: string, more = ""): string => `
  - name: ${name}
    command: ${command}
    schedule: "* * * * * * *"
    captureStdout: true
${more}`;

describe("the daemon as a process", () => {
  test("runs jobs on schedule, mirrors their output, and stops with exit code 0", () =>
    withFolder(async ({ write, start }) => {
      const daemon = start("-c", write("jobs.yaml", `jobs:${everySecond("tick", "echo tock")}`));
      await daemon.seen(/^INFO:cronstable:Job set id: v1:[0-9a-f]{64} \(1 job\)$/m);
      await daemon.seen(/^\[tick stdout\] tock$/m);
      await daemon.seen(
        /^INFO:cronstable:Job tick exit code 0; has stdout: true, has stderr: false; fail_reason: None$/m,
      );
      daemon.child.kill("SIGTERM");
      expect(await daemon.ended).toBe(0);
      expect(daemon.stderr()).toContain("INFO:cronstable:Shutting down (after currently running jobs finish)...");
    }));

  test("26: a stop waits for the running job; a further signal says for whom and changes nothing", () =>
    withFolder(async ({ path, write, start }) => {
      const config = write(
        "jobs.yaml",
        `jobs:\n  - {name: long, schedule: "@reboot", command: "echo $$ > ${path}/pid; read line < ${path}/pipe; echo done"}\n`,
      );
      const { execFileSync } = await import("node:child_process");
      execFileSync("mkfifo", [`${path}/pipe`]);
      const daemon = start("-c", config);
      await daemon.seen(/Job long spawned/);
      daemon.child.kill("SIGTERM");
      await daemon.seen(/Shutting down/);
      daemon.child.kill("SIGINT");
      await daemon.seen(/WARNING:cronstable:already shutting down, waiting for long \(pid \d+\)/);
      write("pipe", "go\n");
      expect(await daemon.ended).toBe(0);
      expect(daemon.stderr()).toContain("Job long exit code 0");
    }));

  test("17: SIGHUP reloads at once; a broken edit changes nothing and says where it is wrong; a fix recovers", () =>
    withFolder(async ({ write, start }) => {
      const config = write("jobs.yaml", `jobs:${everySecond("one", "echo first")}`);
      const daemon = start("-c", config);
      await daemon.seen(/\[one stdout\] first/);
      write("jobs.yaml", `jobs:${everySecond("one", "echo first", "    concurencyPolicy: Forbid\n")}`);
      daemon.child.kill("SIGHUP");
      await daemon.seen(
        /Error in configuration file\(s\), so not updating any of the config\.:\n.*jobs\.yaml:\d+:\d+: jobs\[0\].*concurencyPolicy/,
      );
      write("jobs.yaml", `jobs:${everySecond("one", "echo second")}${everySecond("two", "echo new")}`);
      daemon.child.kill("SIGHUP");
      await daemon.seen(/\[one stdout\] second/);
      await daemon.seen(/\[two stdout\] new/);
      await daemon.seen(/Job set id: v1:[0-9a-f]{64} \(2 jobs\)/);
      daemon.child.kill("SIGTERM");
      expect(await daemon.ended).toBe(0);
    }));

  test("retries a failing job, and reports nothing when nobody is to be told", () =>
    withFolder(async ({ path, write, start }) => {
      const config = write(
        "jobs.yaml",
        `jobs:
  - name: flaky
    command: echo x >> ${path}/runs; test $(wc -l < ${path}/runs) -eq 3
    schedule: "@reboot"
    onFailure:
      retry: {maximumRetries: 5, initialDelay: 0.05, maximumDelay: 1, backoffMultiplier: 2}
`,
      );
      const daemon = start("-c", config);
      await daemon.seen(/Cron job flaky scheduled to be retried \(#1\) in 0\.1 seconds/);
      await daemon.seen(/Cron job flaky scheduled to be retried \(#2\)/);
      await daemon.seen(/Job flaky exit code 0/);
      expect(readFileSync(`${path}/runs`, "utf8")).toBe("x\nx\nx\n");
      expect(daemon.stderr()).not.toContain("reporting");
      daemon.child.kill("SIGTERM");
      expect(await daemon.ended).toBe(0);
    }));

  test(
    "F37: a reader of stdout and stderr that stops reading holds up neither jobs nor the stop",
    {
      timeout: 60_000,
    },
    () =>
      withFolder(async ({ path, write, start }) => {
        // One flood at a time, so that a slow machine does not drown in them; five are more than waits to be mirrored.
        const flood = `head -c 3000000 /dev/zero | tr '\\0' 'x' | fold -w 100; echo run >> ${path}/floods`;
        const config = write(
          "jobs.yaml",
          `jobs:${everySecond("flood", flood, "    concurrencyPolicy: Forbid\n")}${everySecond("count", `echo run >> ${path}/runs`)}`,
        );
        const daemon = start("-c", config);
        await daemon.seen(/Job count spawned/);
        daemon.child.stdout?.pause();
        daemon.child.stderr?.pause();
        const times = (file: string): number =>
          existsSync(`${path}/${file}`) ? readFileSync(`${path}/${file}`, "utf8").split("\n").length - 1 : 0;
        const before = { runs: times("runs"), floods: times("floods") };
        await vi.waitUntil(() => times("runs") >= before.runs + 5 && times("floods") >= before.floods + 5, {
          timeout: 45_000,
          interval: 50,
        });
        daemon.child.stdout?.resume();
        daemon.child.stderr?.resume();
        await daemon.seen(/lines of job output were not mirrored/);
        daemon.child.kill("SIGTERM");
        expect(await daemon.ended).toBe(0);
      }),
  );

  test("JSON log lines on request", () =>
    withFolder(async ({ write, start }) => {
      const daemon = start("--log-format", "json", "-c", write("jobs.yaml", `jobs:${everySecond("tick", "true")}`));
      await daemon.seen(/"Starting job tick"/);
      const line =
        daemon
          .stderr()
          .split("\n")
          .find((text) => text.includes("Starting job tick")) ?? "";
      expect(JSON.parse(line)).toMatchObject({ level: "info", logger: "cronstable", message: "Starting job tick" });
      daemon.child.kill("SIGTERM");
      expect(await daemon.ended).toBe(0);
    }));

  test("a section this build does not serve is said once, and jobs run", () =>
    withFolder(async ({ write, start }) => {
      const daemon = start(
        "-c",
        write(
          "jobs.yaml",
          `cluster: {backend: filesystem, filesystem: {path: /tmp/none}}\njobs:${everySecond("tick", "true")}`,
        ),
      );
      await daemon.seen(
        /WARNING:cronstable:the configuration has a `cluster` section, which this build does not serve yet/,
      );
      await daemon.seen(/Job tick exit code 0/);
    }));
});

describe("the command line", () => {
  test.each<readonly [args: string[], code: number, output: RegExp]>([
    [["--version"], 0, /^\d+\.\d+\.\d+\n$/],
    [["--help"], 0, /--validate-config/],
    [["--nonsense"], 2, /^usage: cronstable .*\ncronstable: error: unknown option '--nonsense'/],
    [["nonsense"], 2, /^usage: .*\ncronstable: error: /],
    [
      ["-l", "loud", "-v", "-c", "x"],
      2,
      /cronstable: error: invalid --log-level 'loud' \(use DEBUG, INFO, WARNING, ERROR or CRITICAL\)/,
    ],
    [["-v", "--", "x"], 2, /`--` is only valid before a `lock run` command/],
    [["-v", "-c", "/nonexistent/x.yaml"], 1, /^ERROR:cronstable:Configuration error: .*\/nonexistent\/x\.yaml/],
    [["-v", "-c", "examples/quickstart.yaml"], 0, /INFO:cronstable:Configuration is valid\./],
    [["-v", "-l", "warn", "-c", "examples/quickstart.yaml"], 0, /^$/],
    [["--valid", "-c", "examples/crontab"], 0, /Configuration is valid/],
    [["--job-set", "-c", "examples/quickstart.yaml"], 0, /^v1:[0-9a-f]{64}\n/],
    [["schedule", "preview", "30 2 * * *", "--tz", "America/New_York"], 0, /At 02:30, every day\n {2}20/],
    [["schedule", "preview", "61 * * * *"], 1, /not a schedule: minute value 61 out of range \[0, 59\]/],
    [["schedule", "lint", "0 0 13 * 5"], 0, /\[day-fields-both-restricted\]/],
    [
      ["schedule", "why", "morning-report", "2026-07-18T09:30", "-c", "examples/quickstart.yaml"],
      0,
      /^NO: .*day-of-week/,
    ],
    [["schedule", "pressure", "-c", "examples/quickstart.yaml"], 0, /busiest minute: :/],
    [
      ["schedule", "suggest", "--period", "daily", "--json", "-c", "examples/quickstart.yaml"],
      0,
      /"hash_hint": "H H \* \* \*"/,
    ],
    [
      ["schedule", "suggest", "--period", "weekly", "-c", "examples/quickstart.yaml"],
      1,
      /period must be 'hourly' or 'daily', got 'weekly'/,
    ],
  ])("%j exits with %i", async (args, code, output) => {
    const program = cronstable(args);
    expect([await program.ended, program.stdout() + program.stderr()]).toEqual([code, expect.stringMatching(output)]);
  });

  test("27: init writes a configuration that is valid, and never over one", () =>
    withFolder(async ({ path, start }) => {
      const first = start("init", `${path}/jobs`);
      expect(await first.ended).toBe(0);
      expect(first.stdout()).toBe(
        `wrote ${path}/jobs/cronstable.yaml\nstart the scheduler with: cronstable -c ${path}/jobs\n`,
      );
      expect(await start("-v", "-c", `${path}/jobs`).ended).toBe(0);
      const text = readFileSync(`${path}/jobs/cronstable.yaml`, "utf8");
      const second = start("init", `${path}/jobs`);
      expect(await second.ended).toBe(1);
      expect(second.stderr()).toMatch(/already holds configuration: cronstable\.yaml/);
      expect(readFileSync(`${path}/jobs/cronstable.yaml`, "utf8")).toBe(text);
    }));
});

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { processExists } from "../../src/platform/process-identity.ts";
import { execution, hundredfold, lineOf } from "./support/launch.ts";

const both = { captureStdout: true, captureStderr: true } as const;
const root = process.getuid?.() === 0;

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "cronstable-launcher-")));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("launching", () => {
  test("a text goes to the shell, a list does not, `shell` is honoured", async () => {
    const { result } = execution();
    const launch = { captureStdout: true };
    expect((await result({ command: 'echo "$HOME"', launch })).stdout?.text).toBe("/root\n");
    expect((await result({ command: ["echo", "$HOME", "*"], launch })).stdout?.text).toBe("$HOME *\n");
    const bash = { command: 'echo "$0 $BASH"', launch: { ...launch, shell: "/bin/bash" } };
    expect((await result(bash)).stdout?.text).toBe("/bin/bash /bin/bash\n");
  });

  test("the job's variables win over the daemon's, the injected ones over both", async () => {
    const { result } = execution();
    const environment = [
      ["HOME", "/job"],
      ["CRONSTABLE_JOB_NAME", "shadow"],
    ] as const;
    const command = 'echo "$HOSTNAME $HOME $CRONSTABLE_JOB_NAME"';
    const run = await result({ command, launch: { ...both, environment } }, { CRONSTABLE_JOB_NAME: "real" });
    expect(run.stdout?.text).toBe("box /job real\n");
    expect(run.environment).toMatchObject({ HOME: "/job", CRONSTABLE_JOB_NAME: "real", HOSTNAME: "box" });
    expect((await result({ command })).environment).toBeNull();
  });

  test("a run tells of its process, then of its end, never within `launch`", async () => {
    const { launch, said } = execution();
    const { events, finished, spawned } = launch({ name: "quick" });
    expect(events).toEqual([]);
    const result = await finished;
    expect(events.map(({ kind }) => kind)).toEqual(["spawned", "finished"]);
    expect(await spawned).toBeGreaterThan(1);
    expect(result).toMatchObject({ exitCode: 0, failReason: null, stopped: null, launchError: null });
    expect(result.startedAt).toBeLessThanOrEqual(result.endedAt);
    expect(result.endedAt).toBeLessThanOrEqual(result.finishedAt);
    expect(said()).toEqual(["INFO Job quick spawned"]);
  });

  test("the working directory applies", async () => {
    const { result } = execution();
    expect((await result({ command: "pwd", launch: { ...both, workingDirectory: folder } })).stdout?.text).toBe(
      `${folder}\n`,
    );
  });

  test("the umask applies", async () => {
    const { result } = execution();
    expect((await result({ command: "umask", launch: { ...both, umask: 0o27 } })).stdout?.text).toBe("0027\n");
  });

  test.runIf(root)(
    "a user gets that user's ids and supplementary groups, in the directory entered before",
    async () => {
      const { result } = execution();
      const identity = { user: "nobody", group: null, uid: 65534, gid: 65534, login: "nobody" };
      const run = await result({
        command: "id -u; id -g; id -G; umask; pwd",
        launch: { ...both, identity, umask: 0o77, workingDirectory: "/root" },
      });
      expect(run.stdout?.text.split("\n").slice(0, 4)).toEqual(["65534", "65534", "65534", "0077"]);
      expect(run.stdout?.text).toContain("/root");
    },
  );

  test.runIf(root)("a uid without a name has no supplementary groups", async () => {
    const { result } = execution();
    const identity = { user: 4711, group: 5, uid: 4711, gid: 5, login: null };
    const run = await result({ command: ["id", "-G"], launch: { ...both, identity } });
    expect(run.stdout?.text).toBe("5\n");
  });

  test("priority reaches the shell and its helpers", async () => {
    const { launch, result } = execution();
    const { run, finished } = launch({
      command: "echo up; read wait < /dev/zero & sh -c nice; wait",
      launch: { ...both, priority: "idle" },
    });
    await lineOf(run.output, /up/);
    expect((await lineOf(run.output, /\d/)).line).toBe("19");
    run.stop("cancelled");
    await finished;
    const normal = await result({ command: "nice", launch: both });
    expect(normal.stdout?.text).toBe("0\n");
  });
});

describe("what cannot be launched is an ordinary failure (F-9, F36)", () => {
  const plain = (): string => {
    const script = join(folder, "plain.sh");
    writeFileSync(script, "echo no\n", { mode: 0o644 });
    return script;
  };
  test.each([
    ["a missing program", { command: ["/nonexistent/exe"] }, /program \/nonexistent\/exe does not exist/],
    ["an unknown name", { command: ["no-such-program"] }, /no program "no-such-program" in PATH/],
    [
      "a missing directory",
      { command: "true", launch: { workingDirectory: "/nonexistent" } },
      /working directory \/nonexistent does not exist/,
    ],
    ["a shell that is a directory", { command: "true", launch: { shell: "/usr" } }, /\/usr is a directory/],
    ["a NUL byte", { command: ["echo", "a\0b"] }, /argument 1 contains a NUL byte/],
    ["a variable with a NUL byte", { command: "true", launch: { environment: [["A", "\0"]] } }, /"A" contains a NUL/],
    ["200 kB of argument", { command: ["echo", "x".repeat(200_000)] }, /one argument may have 128 KiB/],
  ] as const)("%s", async (_, job, message) => {
    const { launch, said } = execution();
    const { events, spawned, finished } = launch({ name: "broken", ...job });
    const result = await finished;
    expect(result).toMatchObject({ exitCode: 127, failReason: "command exited with code 127", stopped: null });
    expect(result.launchError).toMatch(message);
    expect(await spawned).toBeNull();
    expect(events).toHaveLength(2);
    const [error, spawnedLine] = said();
    expect(error).toMatch(/^ERROR Error launching subprocess of job broken, cmd=\[/);
    expect(error).toMatch(message);
    expect(error?.length).toBeLessThan(1000);
    expect(spawnedLine).toBe("INFO Job broken spawned");
  });

  test("a script that is not executable", async () => {
    const script = plain();
    expect((await execution().result({ command: [script] })).launchError).toBe(
      `EACCES: ${script} may not be executed; check its mode (chmod +x), the directories above it and the mount's noexec`,
    );
  });

  test("behind a chain of programs it is known before the start", async () => {
    const result = await execution().result({ command: ["/nonexistent/exe"], launch: { umask: 0 } });
    expect(result).toMatchObject({ exitCode: 127, launchError: "ENOENT: program /nonexistent/exe does not exist" });
  });

  test("a shell's own 127 is not a launch failure (F-8)", async () => {
    const result = await execution().result({ command: "no-such-program", launch: { captureStderr: false } });
    expect(result).toMatchObject({ exitCode: 127, launchError: null, failReason: "command exited with code 127" });
  });

  test("limits that are required and cannot be had", async () => {
    const { result } = execution({ limits: { prepare: () => ({ kind: "refused", why: "no cgroup" }) } });
    const resourceLimits = { cpu: null, memoryBytes: 2 ** 20, processes: null, required: true };
    expect(await result({ launch: { resourceLimits } })).toMatchObject({
      exitCode: 127,
      launchError: "resource limits could not be enforced: no cgroup",
      failReason: "resource limits could not be enforced: no cgroup",
    });
  });

  test("no environment value is ever logged", async () => {
    const { result, everything } = execution();
    const environment = [["API_KEY", "hunter2"]] as const;
    await result({ command: "true", launch: { environment } }, { TOKEN: "s3cret" });
    await result({ command: ["/nonexistent"], launch: { environment } }, { TOKEN: "s3cret" });
    await result({ command: "true", launch: { environment } }, { TOKEN: "s3cret\0" });
    expect(everything()).toContain("env <2 vars, values omitted>");
    expect(everything()).not.toMatch(/hunter2|s3cret/);
  });
});

describe("capture", () => {
  test("saveLimit 5 keeps both ends of nine lines; mirror and live log have all", async () => {
    const { launch, mirrored } = execution();
    const command = "for n in 1 2 3 4 5 6 7 8 9; do echo line$n; done";
    const { run, finished } = launch({ name: "nine", command, launch: { captureStdout: true, saveLimitLines: 5 } });
    const { stdout } = await finished;
    expect(stdout).toEqual({
      text: "line1\nline2\n   [.... 4 lines discarded ...]\nline7\nline8\nline9\n",
      discardedLines: 4,
    });
    expect(mirrored.stdout).toBe([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `[nine stdout] line${n}\n`).join(""));
    expect(run.output.recent()).toHaveLength(9);
  });

  test("saveLimit 0 keeps nothing, still mirrors, still counts as output", async () => {
    const { result, mirrored } = execution();
    const failsWhen = { producesStdout: true, producesStderr: true, nonzeroReturn: true, always: false };
    const { stdout, failReason } = await result({
      command: "echo x",
      launch: { captureStdout: true, saveLimitLines: 0, failsWhen },
    });
    expect(stdout).toEqual({ text: "", discardedLines: 1 });
    expect(failReason).toBe("command wrote to stdout (configured to count as a failure)");
    expect(mirrored.stdout).toBe("[job stdout] x\n");
  });

  test("an over-long line vanishes with one warning, the next is normal, and it is no output", async () => {
    const { result, said } = execution();
    const launch = { captureStderr: true, maxLineLengthBytes: 100 };
    const silent = await result({ name: "long", command: "head -c 300 /dev/zero | tr '\\0' x >&2", launch });
    expect(silent).toMatchObject({ failReason: null, stderr: { text: "", discardedLines: 0 } });
    expect(said().filter((line) => line === "WARNING job long: ignored a very long line")).toHaveLength(1);
    const next = await result({ command: "(head -c 300 /dev/zero | tr '\\0' x; echo; echo after) >&2", launch });
    expect(next.stderr?.text).toBe("after\n");
  });

  test("invalid bytes are replaced, a code point in two writes stays whole, NUL stays (F39)", async () => {
    const { result } = execution();
    const command = String.raw`printf 'a\200b\000c\n'; printf '\342\202'; sleep 0.05; printf '\254\n'`;
    expect((await result({ command, launch: { captureStdout: true } })).stdout?.text).toBe("a\ufffdb\0c\n€\n");
  });

  test("noise of five megabytes is taken as it comes (F39)", async () => {
    const { result } = execution();
    const { exitCode, stdout } = await result({
      command: "head -c 5000000 /dev/urandom",
      launch: { captureStdout: true },
    });
    expect(exitCode).toBe(0);
    expect(stdout?.text.length).toBeGreaterThan(100_000);
  });

  test("an endless line keeps memory flat, and what follows is captured (F40)", async () => {
    const { launch, said } = execution();
    const before = process.memoryUsage.rss();
    let peak = 0;
    const watching = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 10);
    const { finished } = launch({
      command: "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo after",
      launch: { captureStdout: true },
    });
    expect((await finished).stdout).toEqual({ text: "after\n", discardedLines: 0 });
    clearInterval(watching);
    expect(said().filter((line) => line.includes("very long"))).toHaveLength(1);
    expect(peak - before).toBeLessThan(120_000_000); // of 200 MB, with a limit of 16 MiB for a line
  });

  test("a job that prints without end holds up no other, and can be cancelled", async () => {
    const { launch, result } = execution();
    const flood = launch({ name: "flood", command: "yes", launch: { captureStdout: true, killTimeoutSeconds: 0 } });
    await lineOf(flood.run.output, /y/);
    for (let run = 0; run < 5; run++) {
      const quick = await result({ command: "echo quick", launch: { captureStdout: true } });
      expect(quick.stdout?.text).toBe("quick\n");
    }
    flood.run.stop("cancelled");
    const { stdout, stopped } = await flood.finished;
    expect(stopped).toBe("cancelled");
    expect(stdout?.discardedLines).toBeGreaterThan(100_000);
    expect(stdout?.text.split("\n")).toHaveLength(4096 + 2);
  });

  test("a subscriber of the live log gets every line, then the end", async () => {
    const { launch } = execution();
    const { run } = launch({ command: "echo out; echo err >&2", launch: both });
    const heard: string[] = [];
    await new Promise<void>((resolve) => {
      run.output.subscribe((lines) => heard.push(...lines.map(({ stream, line }) => `${stream} ${line}`)), resolve);
    });
    expect(heard.sort()).toEqual(["stderr err", "stdout out"]);
    expect(run.output.published).toBe(2);
  });
});

describe("the end of a run", () => {
  test.each([
    ["kill -9 $$", -9],
    ["kill -TERM $$", -15],
    [["sh", "-c", "kill -SEGV $$"], -11],
    ["exit 3", 3],
  ])("%j gives %i (F32)", async (command, exitCode) => {
    expect(await execution().result({ command })).toMatchObject({
      exitCode,
      failReason: `command exited with code ${exitCode}`,
      stopped: null,
    });
  });

  test("a helper that holds a captured stream keeps the run going (F34)", async () => {
    const { launch } = execution();
    const { run, finished, spawned } = launch({
      command: `(echo $$; read go < ${fifo()}; echo late) & exit 0`,
      launch: both,
    });
    await lineOf(run.output, /\d/);
    await gone(await spawned); // the shell itself ended
    writeFileSync(join(folder, "fifo"), "go\n");
    const result = await finished;
    expect(result).toMatchObject({ exitCode: 0, failReason: null });
    expect(result.stdout?.text).toMatch(/late\n$/);
  });

  test("without capture nothing is waited for (F34)", async () => {
    const command = `sleep 45 & echo $! > ${join(folder, "pid")}`;
    const quick = await execution().result({ command, launch: { captureStdout: false, captureStderr: false } });
    expect(quick).toMatchObject({ exitCode: 0, failReason: null, stdout: null, stderr: null });
    process.kill(Number(textOf(join(folder, "pid"))));
  });

  test("cancelling a run whose helper holds a stream ends both at once (F34)", async () => {
    const { launch } = execution();
    const { run, finished, spawned } = launch({ command: "sleep 45 & echo $!", launch: both });
    const helper = Number((await lineOf(run.output, /\d/)).line);
    await gone(await spawned);
    run.stop("cancelled");
    expect(await finished).toMatchObject({ exitCode: 0, stopped: "cancelled" });
    await gone(helper);
  });
});

describe("executionTimeout", () => {
  test("the run is -100, whatever the command says on SIGTERM", async () => {
    const { result, said } = execution();
    const run = await result({
      name: "slow",
      command: "trap 'exit 7' TERM; echo up; sleep 300 & wait",
      launch: { captureStdout: true, captureStderr: false, executionTimeoutSeconds: 0.3 },
    });
    expect(run).toMatchObject({
      exitCode: -100,
      stopped: "timeout",
      failReason: "command exited with code -100",
      stdout: { text: "up\n" },
    });
    expect(said()).toContain("INFO Job slow exceeded its executionTimeout of 0.3 seconds, cancelling it...");
  });

  test("it covers what holds a stream after the command has ended well; the text is kept (F-10)", async () => {
    const { launch } = execution();
    const { run, finished } = launch({
      command: "sleep 300 & echo $!",
      launch: { captureStdout: true, executionTimeoutSeconds: 0.5 },
    });
    const helper = Number((await lineOf(run.output, /\d/)).line);
    const result = await finished;
    expect(result).toMatchObject({ exitCode: -100, stopped: "timeout", stdout: { text: `${helper}\n` } });
    await gone(helper);
  });

  test("a descendant that left the session cannot pin the run (F33)", async () => {
    const { launch, said } = execution({ clock: hundredfold });
    const { run, finished } = launch({
      name: "pinned",
      command: "setsid sh -c 'echo $$; exec sleep 300' & sleep 60",
      launch: { captureStdout: true, captureStderr: false, executionTimeoutSeconds: 50, killTimeoutSeconds: 0 },
    });
    const escaped = Number((await lineOf(run.output, /\d/)).line);
    const result = await finished;
    expect(result).toMatchObject({ exitCode: -100, stdout: { text: `${escaped}\n` } });
    expect(said().at(-1)).toBe(
      "WARNING job pinned: stdout did not reach end-of-file within 30.0 seconds of the job being killed; a process that left its group holds it. What was captured is kept",
    );
    expect(processExists(escaped)).toBe(true);
    process.kill(escaped);
  });

  test.each([3e6, 1e9, Number.POSITIVE_INFINITY])("%i seconds kill nobody (F02)", async (executionTimeoutSeconds) => {
    const result = await execution().result({ command: "sleep 0.1", launch: { executionTimeoutSeconds } });
    expect(result).toMatchObject({ exitCode: 0, stopped: null });
  });
});

describe("stopping", () => {
  test("SIGTERM ends a command that does not mind it, its helpers too", async () => {
    const { launch } = execution();
    const { run, finished } = launch({ command: "sleep 300 & echo $!; wait", launch: { captureStdout: true } });
    const helper = Number((await lineOf(run.output, /\d/)).line);
    run.stop("cancelled");
    expect(await finished).toMatchObject({ exitCode: -15, stopped: "cancelled" });
    await gone(helper);
  });

  test("a trap has killTimeout to clean up", async () => {
    const { launch, said } = execution();
    const { run, finished } = launch({
      command: "trap 'sleep 0.2; echo cleaned; exit 4' TERM; echo up; sleep 300 & wait",
      launch: { captureStdout: true, killTimeoutSeconds: 20 },
    });
    await lineOf(run.output, /up/);
    run.stop("replaced");
    const result = await finished;
    expect(result).toMatchObject({ exitCode: 4, stopped: "replaced", stdout: { text: "up\ncleaned\n" } });
    expect(said()).toEqual(["INFO Job job spawned"]);
  });

  test("who ignores SIGTERM is killed after killTimeout", async () => {
    const { launch, said } = execution();
    const { run, finished } = launch({
      name: "deaf",
      command: "trap '' TERM; echo up; sleep 300",
      launch: { captureStdout: true, killTimeoutSeconds: 0.2 },
    });
    await lineOf(run.output, /up/);
    run.stop("cancelled");
    run.stop("replaced"); // the first cause stays
    expect(await finished).toMatchObject({ exitCode: -9, stopped: "cancelled" });
    expect(said()).toContain("WARNING Job deaf did not gracefully terminate after 0.2 seconds, killing it...");
  });

  test("before its turn: nothing is started", async () => {
    const { launch, said } = execution();
    const { run, finished, spawned } = launch({ name: "early", command: `touch ${join(folder, "started")}` });
    run.stop("cancelled");
    expect(await finished).toMatchObject({ exitCode: -15, stopped: "cancelled", launchError: null });
    expect(await spawned).toBeNull();
    expect(said()).toEqual(["INFO Job early was stopped before its command was started"]);
    expect(existsSync(join(folder, "started"))).toBe(false);
  });

  test("while its process is being started: it is stopped as soon as it is there", async () => {
    const { launch } = execution();
    const { run, finished } = launch({ command: "sleep 300" });
    setImmediate(() => run.stop("cancelled")); // the first start loads what it takes, so it is under way then
    expect(await finished).toMatchObject({ exitCode: -15, stopped: "cancelled" });
  });

  test("after its end: nothing happens", async () => {
    const { launch } = execution();
    const { run, finished, events } = launch({ command: "true" });
    await finished;
    run.stop("cancelled");
    expect(events).toHaveLength(2);
  });
});

test("a hundred at once start in their order, and the loop goes on between them", async () => {
  const { launch } = execution();
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns++;
    if (!over) setImmediate(count);
  };
  const order: number[] = [];
  const runs = Array.from({ length: 100 }, (_, index) => {
    const run = launch({ command: `exit ${index}` });
    void run.spawned.then(() => order.push(index));
    return run;
  });
  setImmediate(count);
  const results = await Promise.all(runs.map(({ finished }) => finished));
  over = true;
  expect(results.map(({ exitCode }) => exitCode)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(order).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(turns).toBeGreaterThan(6); // sixteen starts a turn at most
});

/** Resolves once no process of this number runs. */
async function gone(pid: number | null): Promise<void> {
  while (pid !== null && running(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

function running(pid: number): boolean {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat !== null && !/\) Z /.test(stat);
}

function textOf(file: string): string | null {
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

/** A pipe in the file system: whoever reads it waits for a writer. */
function fifo(): string {
  const path = join(folder, "fifo");
  execFileSync("mkfifo", [path]);
  return path;
}

import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Child, ChildOutput, Spawner, SpawnRequest } from "../../src/platform/spawn/spawner.ts";

/** What every `Spawner` must do, with real processes. */
export function spawnerContract(name: string, make: () => Promise<Spawner>): void {
  describe(name, () => {
    let spawner: Spawner;
    let directory: string;
    beforeAll(async () => {
      spawner = await make();
      directory = realpathSync(mkdtempSync(join(tmpdir(), "cronstable-spawner-")));
    });
    afterAll(() => rmSync(directory, { recursive: true }));

    const request = (argv: readonly string[], more: Partial<SpawnRequest> = {}): SpawnRequest => ({
      argv,
      environment: { base: { PATH: "/usr/bin:/bin" }, added: {} },
      workingDirectory: null,
      stdout: "pipe",
      stderr: "pipe",
      ...more,
    });

    async function start(argv: readonly string[], more: Partial<SpawnRequest> = {}): Promise<Child> {
      const outcome = await spawner.spawn(request(argv, more));
      if (outcome.kind === "failed") throw new Error(outcome.message);
      return outcome.child;
    }

    async function run(argv: readonly string[], more: Partial<SpawnRequest> = {}) {
      const child = await start(argv, more);
      const [code, stdout, stderr] = await Promise.all([child.exit, textOf(child.stdout), textOf(child.stderr)]);
      return { code, stdout, stderr };
    }

    async function failure(argv: readonly string[], more: Partial<SpawnRequest> = {}): Promise<string> {
      const outcome = await spawner.spawn(request(argv, more));
      if (outcome.kind === "started") throw new Error("it started");
      return outcome.message;
    }

    test("arguments arrive byte for byte, output and exit code come back", async () => {
      const argv = ["/bin/sh", "-c", 'printf "%s|" "$@"; echo oops >&2; exit 7', "sh", "$A *", "ü€😀", "", "a\nb"];
      expect(await run(argv)).toEqual({ code: 7, stdout: "$A *|ü€😀||a\nb|", stderr: "oops\n" });
    });

    test.each([
      ["KILL", -9],
      ["TERM", -15],
      ["SEGV", -11],
    ])("death by SIG%s is %i", async (signal, code) => {
      expect((await run(["sh", "-c", `kill -${signal} $$`])).code).toBe(code);
    });

    test("the environment is the one given, what is added wins", async () => {
      const base = { PATH: "/usr/bin:/bin", A: "base", B: "base", EMPTY: "" };
      const added = { B: "added", C: "added=x" };
      const { stdout } = await run(["env"], { environment: { base, added } });
      expect(stdout.split("\n").filter(Boolean).sort()).toEqual([
        "A=base",
        "B=added",
        "C=added=x",
        "EMPTY=",
        "PATH=/usr/bin:/bin",
      ]);
    });

    test("the same base serves many environments", async () => {
      const base = { PATH: "/usr/bin:/bin", A: "base" };
      const outputs = await Promise.all(
        ["1", "2", "3"].map((run_) =>
          run(["sh", "-c", 'echo "$A $RUN"'], { environment: { base, added: { RUN: run_ } } }),
        ),
      );
      expect(outputs.map(({ stdout }) => stdout)).toEqual(["base 1\n", "base 2\n", "base 3\n"]);
    });

    test("a program is looked up in the child's own PATH", async () => {
      writeFileSync(join(directory, "own-program"), "#!/bin/sh\necho found\n", { mode: 0o755 });
      const environment = { base: { PATH: "/bin" }, added: { PATH: `/nowhere:${directory}` } };
      expect((await run(["own-program"], { environment })).stdout).toBe("found\n");
    });

    test("the working directory is entered", async () => {
      expect((await run(["pwd"], { workingDirectory: directory })).stdout).toBe(`${directory}\n`);
    });

    test("the child leads a session and a process group of its own", async () => {
      const { stdout } = await run(["sh", "-c", "echo $$; cut -d' ' -f5,6 /proc/$$/stat"]);
      const [pid, ids] = stdout.split("\n");
      expect(ids).toBe(`${pid} ${pid}`);
    });

    test("none of the daemon's descriptors reaches the child", async () => {
      const child = await start(["ls", "/proc/self/fd"]);
      expect(await textOf(child.stdout)).toBe("0\n1\n2\n3\n"); // 3 is the listing itself
    });

    test("no signal is ignored or blocked", async () => {
      const { stdout } = await run(["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]);
      expect(stdout).toBe("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    });

    test("standard input is the daemon's", async () => {
      const mine = readlinkSync("/proc/self/fd/0");
      expect((await run(["readlink", "/proc/self/fd/0"])).stdout).toBe(`${mine}\n`);
    });

    test("an inherited stream is the daemon's and gives no output here", async () => {
      const child = await start(["sh", "-c", "test /proc/self/fd/1 -ef /proc/$PPID/fd/1"], { stdout: "inherit" });
      expect(child.stdout).toBeNull();
      expect(await child.exit).toBe(0);
      child.stderr?.close();
    });

    test("a signal to the group reaches helpers, also when the leader has gone", async () => {
      const child = await start(["sh", "-c", "sleep 1000 & echo up"]);
      let up = false;
      const ended = new Promise<void>((resolve) => {
        child.stdout?.read(() => {
          up = true;
          return "more";
        }, resolve);
      });
      expect(await child.exit).toBe(0);
      child.group.signal("SIGKILL");
      await ended; // the helper held the pipe
      expect(up).toBe(true);
      child.group.signal("SIGKILL"); // nobody there: nothing happens
      child.stderr?.close();
    });

    test("a nice level reaches the child", async () => {
      const child = await start(["sh", "-c", "read go; true"], { stdout: "inherit" });
      child.group.signal("SIGSTOP");
      expect(child.setNice(19)).toBeNull();
      child.group.signal("SIGKILL");
      await child.exit;
      expect(child.setNice(19)).toBeNull(); // gone is no refusal
      child.stderr?.close();
    });

    test("reading waits until it is resumed", async () => {
      const child = await start(["sh", "-c", "head -c 1000000 /dev/zero; echo done >&2"]);
      let bytes = 0;
      let waits = 0;
      const ended = new Promise<void>((resolve) => {
        child.stdout?.read((chunk) => {
          bytes += chunk.length;
          waits++;
          setImmediate(() => child.stdout?.resume());
          return "wait";
        }, resolve);
      });
      await ended;
      expect(bytes).toBe(1_000_000);
      expect(waits).toBeGreaterThan(1);
      await child.exit;
      child.stderr?.close();
    });

    test("closing our end ends the reading though a holder lives", async () => {
      const child = await start(["sleep", "1000"]);
      const ended = textOf(child.stdout);
      child.stdout?.close();
      child.stderr?.close();
      expect(await ended).toBe("");
      child.group.signal("SIGKILL");
      expect(await child.exit).toBe(-9);
    });

    test("nothing is left open", async () => {
      await run(["true"]);
      const before = readdirSync("/proc/self/fd").length;
      await Promise.all(Array.from({ length: 20 }, () => run(["true"])));
      await failure(["/nonexistent/exe"]);
      await new Promise(setImmediate);
      expect(readdirSync("/proc/self/fd").length).toBe(before);
    });

    describe("what keeps a process from starting", () => {
      test("a missing program", async () => {
        expect(await failure(["/nonexistent/exe"])).toBe("ENOENT: program /nonexistent/exe does not exist");
      });
      test("a name that PATH does not know", async () => {
        expect(await failure(["no-such-program"])).toBe(
          'ENOENT: no program "no-such-program" in PATH (/usr/bin:/bin); give its full path',
        );
      });
      test("an empty name", async () => {
        expect(await failure([""])).toBe("ENOENT: the program's name is empty");
      });
      test("a missing working directory", async () => {
        expect(await failure(["/bin/true"], { workingDirectory: "/nonexistent" })).toBe(
          "working directory /nonexistent does not exist",
        );
      });
      test("a working directory that is a file", async () => {
        expect(await failure(["/bin/true"], { workingDirectory: "/etc/passwd" })).toBe(
          "working directory /etc/passwd is not a directory",
        );
      });
      test("a directory instead of a program", async () => {
        expect(await failure(["/usr"])).toBe("EACCES: /usr is a directory, not a program");
      });
      test("a file without execute permission", async () => {
        const script = join(directory, "plain.sh");
        writeFileSync(script, "echo no\n", { mode: 0o644 });
        expect(await failure([script], { workingDirectory: directory })).toBe(
          `EACCES: ${script} may not be executed; check its mode (chmod +x), the directories above it and the mount's noexec (working directory ${directory})`,
        );
      });
      test("a script whose interpreter is missing", async () => {
        const script = join(directory, "orphan.sh");
        writeFileSync(script, "#!/nonexistent/python3 -u\n", { mode: 0o755 });
        expect(await failure([script])).toBe(
          `ENOENT: the interpreter /nonexistent/python3, named in the first line of ${script}, does not exist`,
        );
      });
      test("an argument with a NUL byte", async () => {
        expect(await failure(["/bin/echo", "a\0b"])).toBe("argument 1 contains a NUL byte");
      });
      test("an argument that UTF-8 cannot write", async () => {
        expect(await failure(["/bin/echo", "a\ud800b"])).toBe(
          "argument 1 contains half of a surrogate pair, which UTF-8 cannot write",
        );
      });
      test("an argument of 200 kB", async () => {
        expect(await failure(["/bin/echo", "x".repeat(200_000)])).toBe(
          "E2BIG: arguments and environment are too long for the system: one argument may have 128 KiB; pass a file instead",
        );
      });
      test("a variable with a NUL byte, whose value stays unsaid", async () => {
        const environment = { base: { PATH: "/bin" }, added: { TOKEN: "se\0cret" } };
        expect(await failure(["/bin/true"], { environment })).toBe('environment variable "TOKEN" contains a NUL byte');
      });
    });
  });
}

/** Everything a child writes to one of its streams. */
export function textOf(output: ChildOutput | null): Promise<string> {
  if (output === null) return Promise.resolve("");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    output.read(
      (bytes) => {
        chunks.push(Buffer.from(bytes));
        return "more";
      },
      () => resolve(Buffer.concat(chunks).toString()),
    );
  });
}

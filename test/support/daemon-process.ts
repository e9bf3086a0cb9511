import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const main = join(import.meta.dirname, "../../dist/main.js");

/** Of what a program prints on each stream the newest is kept, so that a test may let it print without end. */
const KEPT_CHARACTERS = 200_000;

/** A run of the built program, with what it has printed lately. */
export interface Program {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the first match of `pattern` in what has been or will be printed; rejects when the program ends without it. */
  seen(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
}

/** Starts `cronstable` with these arguments. The caller ends it. */
export function cronstable(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: "", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      texts[stream] = (texts[stream] + text).slice(-KEPT_CHARACTERS);
      for (const look of [...waiting]) look();
    });
  }
  const ended = new Promise<number | string>((resolve) =>
    child.once("close", (code, signal) => resolve(code ?? signal ?? "")),
  );
  return {
    child,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    ended,
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(texts.stderr) ?? pattern.exec(texts.stdout);
          if (match === null) return;
          waiting.delete(look);
          resolve(match);
        };
        waiting.add(look);
        look();
        void ended.then((code) => {
          if (waiting.delete(look))
            reject(new Error(`ended with ${code} before ${pattern}:\n${texts.stderr}\n${texts.stdout}`));
        });
      }),
  };
}

/** A folder of its own, gone when `use` has ended, the programs started in it too. */
export async function withFolder(use: (folder: Folder) => Promise<void>): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), "cronstable-test-"));
  const programs: Program[] = [];
  try {
    await use({
      path,
      write(name, text) {
        const file = join(path, name);
        writeFileSync(file, text);
        return file;
      },
      start(...args) {
        const program = cronstable(args);
        programs.push(program);
        return program;
      },
    });
  } finally {
    for (const { child } of programs) child.kill("SIGKILL");
    rmSync(path, { recursive: true, force: true });
  }
}

export interface Folder {
  readonly path: string;
  /** @returns the file's path */
  write(name: string, text: string): string;
  start(...args: readonly string[]): Program;
}

/** A daemon whose API listens on a port of its own, and on a socket file. */
export async function withApi(
  folder: Folder,
  jobs: string,
  web = "",
): Promise<{ daemon: Program; port: number; url: string }> {
  const daemon = folder.start(
    "-c",
    folder.write(
      "api.yaml",
      `web: {listen: ["http://127.0.0.1:0", "unix://${folder.path}/api.sock"]${web}}\njobs: [${jobs}]\n`,
    ),
  );
  const [, port] = await daemon.seen(/started listening on http:\/\/127\.0\.0\.1:0\D+(\d+)/);
  await daemon.seen(/started listening on unix:/);
  return { daemon, port: Number(port), url: `http://127.0.0.1:${port}` };
}

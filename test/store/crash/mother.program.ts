import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import koffi from "koffi";
import { wallMicros } from "../../../src/platform/wall-micros.ts";
import { filesystemEngine } from "../../../src/store/filesystem/engine.ts";
import { systemDisk } from "../../../src/store/filesystem/system-disk.ts";
import { inspectAfterKills, type Knowledge, newKnowledge } from "./inspection.ts";
import { type Acknowledgement, seededNumbers, writeMuch } from "./writer.ts";

/**
 * Forks processes that write into one store and kills them at random instants, then looks at what they left.
 *
 * `node <flags> mother.mjs <store path> <kills> <seed>`. Node is started with `motherFlags`, so that V8 keeps no thread a fork would
 * lose; a fork costs a fiftieth of starting Node, which is what makes thousands of kills affordable. Prints one line of JSON.
 */
const libc = koffi.load(null);
const fork = libc.func("int fork()");
const waitpid = libc.func("int waitpid(int pid, void *status, int options)");
const kill = libc.func("int kill(int pid, int signal)");
const exitProcess = libc.func("void _exit(int code)");
const usleep = libc.func("int usleep(uint32_t micros)");
const madvise = libc.func("int madvise(uint64_t address, uint64_t length, int advice)");
const MADV_DOFORK = 11;
const SIGKILL = 9;
const SIGSEGV = 11;

const [path = "", killsText = "0", seedText = "1"] = process.argv.slice(2);
const killsWanted = Number(killsText);
const random = seededNumbers(Number(seedText));

const knowledge: Knowledge = newKnowledge(path);
const problems: string[] = [];
const sharedRanges = new Set<string>();
let kills = 0;
let crippled = 0;
let acknowledged = 0;

// Compiles what the writers run, so that they get something done in their short lives.
const warmUp = join(path, "warm-up");
filesystemEngine(
  { path: warmUp, deploymentId: null, writer: "0".repeat(12) },
  systemDisk,
  { wallMicros },
  () => undefined,
).start({
  topology: "auto",
});
writeMuch(warmUp, 0, 0, 300, () => undefined);

for (let round = 0; kills < killsWanted && problems.length === 0; round++) {
  const writers = Array.from({ length: 1 + random(3) }, (_, index) => {
    const log = join(path, `acknowledged-${index}.log`);
    const seed = random(2 ** 31);
    const fd = openSync(log, "w");
    shareMemoryWithForks();
    const pid = fork();
    if (pid === 0) {
      writeMuch(path, round, seed, 1e9, (line) => writeSync(fd, `${JSON.stringify(line)}\n`));
      exitProcess(1);
    }
    closeSync(fd);
    return { pid, log };
  });
  letWork(writers.map(({ log }) => log));
  for (const { pid } of writers) kill(pid, SIGKILL);
  for (const { pid } of writers) {
    const status = new Int32Array(1);
    waitpid(pid, status, 0);
    const signal = Number(status[0]) & 0x7f;
    if (signal === SIGKILL) kills++;
    else if (signal === SIGSEGV) crippled++;
    else problems.push(`round ${round}: a writer ended by itself, status ${status[0]}`);
  }
  const lines = writers.flatMap(({ log }) => completeLines(readFileSync(log, "utf8")));
  acknowledged += lines.length;
  problems.push(...inspectAfterKills(knowledge, round, writers.length, lines).map((what) => `round ${round}: ${what}`));
  for (const { log } of writers) rmSync(log);
}

process.stdout.write(`${JSON.stringify({ kills, crippled, acknowledged, problems })}\n`);

/**
 * V8 keeps its memory out of forks, so the kernel is told otherwise. What V8 maps between this and the fork is still missing in the
 * child, which then soon dies of SIGSEGV: one more kill at a random instant, only not counted.
 */
function shareMemoryWithForks(): void {
  for (const [range, from, to] of readFileSync("/proc/self/maps", "latin1").matchAll(/^([0-9a-f]+)-([0-9a-f]+) /gm)) {
    if (sharedRanges.has(range)) continue;
    sharedRanges.add(range);
    const address = BigInt(`0x${from}`);
    madvise(address, BigInt(`0x${to}`) - address, MADV_DOFORK);
  }
}

/** Waits until the writers have said a little, for no longer than a busy machine may take, and then a random while. */
function letWork(logs: readonly string[]): void {
  const enough = random(200);
  for (let waits = 0; waits < 300 && sum(logs.map((log) => statSync(log).size)) < enough; waits++) usleep(300);
  usleep(random(1500));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

/** The writer may have been killed in the middle of its last line. */
function completeLines(text: string): Acknowledgement[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

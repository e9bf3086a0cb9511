import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchRow } from "./row.ts";

const main = join(import.meta.dirname, "../dist/main.js");
/** Extra certificates are read at every start of Node; they are the machine's business, not ours. */
const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;

/** The built program as a whole: what it costs to start it, and to leave it alone. */
export async function daemonRows(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "cronstable-bench-"));
  try {
    return [...startRows(folder), ...(await idleRows(folder))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function startRows(folder: string): BenchRow[] {
  const config = writeJobs(folder, 10);
  const floorMs: number[] = [];
  const versionMs: number[] = [];
  const validateMs: number[] = [];
  for (let run = 0; run < 21; run++) {
    floorMs.push(wallMs(["-e", "0"]));
    versionMs.push(wallMs([main, "--version"]));
    validateMs.push(wallMs([main, "-v", "-c", config]));
  }
  const floor = median(floorMs);
  const row = (name: string, ours: number, target: string): BenchRow => ({
    name,
    ours,
    floor,
    unit: "ms",
    ratio: ours / floor,
    target,
  });
  return [
    row("cronstable --version", median(versionMs), "within 20 ms of node -e 0"),
    row("cronstable --validate-config, 10 jobs", median(validateMs), ""),
  ];
}

/** All of them wait side by side, for 20 seconds. */
async function idleRows(folder: string): Promise<BenchRow[]> {
  const counts = [10, 1_000, 100_000];
  const bare = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e9); console.error('Job set id')"], options);
  const daemons = counts.map((count) => spawn(process.execPath, [main, "-c", writeJobs(folder, count)], options));
  const all = [bare, ...daemons];
  try {
    await Promise.all(all.map(ready));
    await pause(5_000); // the start's garbage goes
    const before = all.map(cpuSeconds);
    await pause(20_000);
    const cpuPercent = all.map((child, index) => ((cpuSeconds(child) - (before[index] ?? 0)) / 20) * 100);
    const rss = all.map(residentMb);
    return counts.flatMap((count, index) => [
      {
        name: `idle daemon, ${count} jobs: resident memory`,
        ours: rss[index + 1] ?? 0,
        floor: rss[0] ?? 0,
        unit: "MB",
        ratio: (rss[index + 1] ?? 0) / (rss[0] ?? 1),
        target: count === 10 ? "within 20 MB of a bare Node" : count === 100_000 ? "under 300 MB" : "",
      },
      {
        name: `idle daemon, ${count} jobs: CPU over 20 s`,
        ours: cpuPercent[index + 1] ?? 0,
        floor: cpuPercent[0] ?? 0,
        unit: "%",
        ratio: null,
        target: count === 100_000 ? "under 0.2 %" : "",
      },
    ]);
  } finally {
    for (const child of all) child.kill("SIGKILL");
  }
}

const options: SpawnOptions = { env: environment, stdio: ["ignore", "ignore", "pipe"] };

/** Jobs that are never due while the bench looks: once a year, at different times. */
function writeJobs(folder: string, count: number): string {
  const path = join(folder, `jobs-${count}.yaml`);
  const month = ((new Date().getUTCMonth() + 6) % 12) + 1;
  const jobs = Array.from(
    { length: count },
    (_unused, index) =>
      `  - name: job-${index}\n    command: echo ${index}\n    schedule: "${index % 60} ${index % 24} ${(index % 28) + 1} ${month} *"\n`,
  );
  writeFileSync(path, `jobs:\n${jobs.join("")}`);
  return path;
}

function wallMs(args: readonly string[]): number {
  const from = performance.now();
  const ended = spawnSync(process.execPath, args, { env: environment, stdio: "ignore" });
  if (ended.status !== 0) throw new Error(`node ${args.join(" ")} exited with ${ended.status}`);
  return performance.now() - from;
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stderr?.on("data", (chunk: Buffer) => chunk.includes("Job set id") && resolve());
    child.once("exit", (code) => reject(new Error(`a daemon under measurement exited with ${code}`)));
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** User and system time so far; 100 clock ticks a second on every Linux there is. */
function cpuSeconds(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentMb(child: ChildProcess): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"));
  return Number(match?.[1]) / 1024;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

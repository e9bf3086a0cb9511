import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createTransport } from "nodemailer";
import type { ReportConfig } from "../src/config/model.ts";
import type { Logger } from "../src/contract/log.ts";
import type { ReportFacts } from "../src/contract/report.ts";
import { systemClock } from "../src/platform/clock.ts";
import { systemSpawner } from "../src/platform/spawn/system-spawner.ts";
import { createReporting } from "../src/report/reporting.ts";
import { block, captured, failedRun, secret } from "../test/report/support/facts.ts";
import type { BenchRow } from "./row.ts";

const RUNS = 500;

/**
 * 500 failed runs that end within one second, each mailed and posted with the default texts. Turns of the event loop are measured in CPU
 * time of the main thread, so that a busy machine does not count as ours.
 */
export async function reportRows(): Promise<BenchRow[]> {
  const receivers = await startReceivers();
  try {
    const first = await longestTurnMs(() => reportAll(receivers, 50));
    await reportAll(receivers, RUNS);
    const turn = await longestTurnMs(() => reportAll(receivers, RUNS));
    const ours = await costs(() => reportAll(receivers, RUNS));
    await sendBare(receivers, 50);
    const bareTurn = await longestTurnMs(() => sendBare(receivers, RUNS));
    const bare = await costs(() => sendBare(receivers, RUNS));
    return [
      {
        name: `${RUNS} runs in a second, mail and webhook: longest turn of the event loop`,
        ours: turn,
        floor: bareTurn,
        unit: "ms CPU",
        ratio: turn / bareTurn,
        target: "<= 50 ms",
      },
      {
        name: "the first 50 reports of a process, libraries loaded: longest turn",
        ours: first,
        floor: null,
        unit: "ms CPU",
        ratio: null,
        target: "<= 50 ms",
      },
      {
        name: "reporting one run by mail and webhook (floor: nodemailer and fetch, bare)",
        ours: ours.cpuMs / RUNS,
        floor: bare.cpuMs / RUNS,
        unit: "ms CPU",
        ratio: ours.cpuMs / bare.cpuMs,
        target: "<= floor + 1 ms",
      },
      {
        name: `${RUNS} runs in a second: until the last report is out`,
        ours: ours.wallMs,
        floor: bare.wallMs,
        unit: "ms",
        ratio: ours.wallMs / bare.wallMs,
      },
    ];
  } finally {
    receivers.stop();
  }
}

interface Receivers {
  readonly web: number;
  readonly mail: number;
  stop(): void;
}

function startReceivers(): Promise<Receivers> {
  const child = fork(new URL("./report-receivers.ts", import.meta.url), { execArgv: process.execArgv });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("message", (ports: { readonly web: number; readonly mail: number }) => {
      resolve({ ...ports, stop: () => child.disconnect() });
    });
  });
}

const text = `${"a line of output that is neither short nor long, 80 characters with its end...\n".repeat(20)}`;

async function reportAll({ web, mail }: Receivers, runs: number): Promise<void> {
  const problems: string[] = [];
  const say = (message: string): void => {
    problems.push(message);
  };
  const log: Logger = { debug() {}, info() {}, warning: say, error: say, critical: say, enabled: () => false };
  const reporting = createReporting({
    log,
    clock: systemClock,
    host: "bench",
    push: () => null,
    spawner: systemSpawner(() => {}),
    randomHex: (bytes) => randomBytes(bytes).toString("hex"),
  });
  const both: ReportConfig = block({
    mail: { from: "cron@example.com", to: "ops@example.com", smtpHost: "127.0.0.1", smtpPort: mail },
    webhook: { url: secret(`http://127.0.0.1:${web}/hook`) },
  });
  const facts = (index: number): ReportFacts => failedRun({ stderr: captured(text) }, { name: `job-${index}` });
  await spread(runs, (index) => reporting.report(both, facts(index)));
  reporting.close();
  if (problems.length > 0) throw new Error(problems[0]);
}

/** The same deliveries without us: a constant text, handed to nodemailer and fetch. */
async function sendBare({ web, mail }: Receivers, runs: number): Promise<void> {
  const transport = createTransport({ host: "127.0.0.1", port: mail });
  const body = JSON.stringify({ text });
  await spread(runs, async () => {
    const [response] = await Promise.all([
      fetch(`http://127.0.0.1:${web}/hook`, { method: "POST", body, headers: { "Content-Type": "application/json" } }),
      transport.sendMail({ from: "cron@example.com", to: "ops@example.com", subject: "job failed", text }),
    ]);
    await response.arrayBuffer();
  });
  transport.close();
}

/** Starts `runs` pieces of work evenly over one second, as runs end, and waits for all. */
async function spread(runs: number, work: (index: number) => Promise<unknown>): Promise<void> {
  const start = performance.now();
  const all: Promise<unknown>[] = [];
  while (all.length < runs) {
    const due = Math.min(runs, Math.ceil(((performance.now() - start) / 1_000) * runs));
    while (all.length < due) all.push(work(all.length));
    await nextTurn();
  }
  await Promise.all(all);
}

async function costs(work: () => Promise<void>): Promise<{ readonly cpuMs: number; readonly wallMs: number }> {
  const before = process.cpuUsage();
  const start = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wallMs: performance.now() - start, cpuMs: (user + system) / 1_000 };
}

/** The most CPU the main thread spent between two turns of the event loop. */
async function longestTurnMs(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let before = threadCpuMs();
  let over = false;
  const look = (): void => {
    const now = threadCpuMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (!over) setImmediate(look);
  };
  setImmediate(look);
  await work();
  over = true;
  return longest;
}

/** Nanoseconds on the CPU are the first figure of a thread's schedstat. */
function threadCpuMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { createStatsd, type StatsdJob } from "../../src/metrics/statsd.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { writtenLog } from "../support/node.ts";

/** Soon on an idle machine; long enough for a busy one. */
const SOON = { timeout: 20_000 };

const START = Date.UTC(2026, 0, 1);

const open: { close(): void }[] = [];
afterEach(() => {
  for (const it of open.splice(0)) it.close();
});

async function receiver(port = 0): Promise<{ port: number; received: string[]; socket: Socket }> {
  const socket = createSocket("udp4");
  const received: string[] = [];
  socket.on("message", (message) => received.push(String(message)));
  socket.bind(port, "127.0.0.1");
  await once(socket, "listening");
  return { port: socket.address().port, received, socket };
}

const job = (port: number, host = "127.0.0.1", name = "etl"): StatsdJob => ({
  name,
  launch: { statsd: { prefix: name, host, port } },
});
const stop = { success: true, durationMs: 12, resources: null };

type Resolve = NonNullable<Parameters<typeof createStatsd>[0]["resolve"]>;

function statsd({ clock = systemClock, resolve }: { clock?: Clock; resolve?: Resolve } = {}) {
  const lines: string[] = [];
  const udpLines: string[] = [];
  const made = createStatsd({
    clock,
    log: (name) => writtenLog(name === "statsd" ? udpLines : lines),
    ...(resolve !== undefined && { resolve }),
  });
  open.push(made);
  return { ...made, lines, udpLines };
}

test("start and end of a run arrive as one datagram each, in order", async () => {
  const { port, received, socket } = await receiver();
  open.push(socket);
  const sender = statsd();
  sender.jobStarted(job(port));
  await sender.jobStopped(job(port), stop);
  await vi.waitFor(() => expect(received).toHaveLength(2), SOON);
  expect(received).toEqual(["etl.start:1|g\n", "etl.stop:1|g\netl.success:1|g\netl.duration:12|ms\n"]);
  expect(sender.lines).toEqual([]);
});

test("a job without statsd sends nothing and costs nothing", async () => {
  let lookups = 0;
  const sender = statsd({ resolve: async () => ({ address: `127.0.0.${++lookups}`, family: 4 }) });
  const plain = { name: "plain", launch: { statsd: null } };
  sender.jobStarted(plain);
  await sender.jobStopped(plain, stop);
  expect(lookups).toBe(0);
});

test("an unknown host is one short warning; once it resolves, metrics arrive without a restart", async () => {
  const { port, received, socket } = await receiver();
  open.push(socket);
  const clock = simulatedClock(START);
  let resolves = false;
  const sender = statsd({
    clock,
    resolve: async (host) => {
      if (!resolves) throw new Error(`getaddrinfo ENOTFOUND ${host}`);
      return { address: "127.0.0.1", family: 4 };
    },
  });
  const run = async () => {
    sender.jobStarted(job(port, "metrics.invalid"));
    await sender.jobStopped(job(port, "metrics.invalid"), stop);
    clock.runUntil(clock.wallNow() + 15_000);
  };
  for (let runs = 0; runs < 5; runs += 1) await run();
  expect(sender.lines).toEqual([
    "WARNING Job etl: failed to send statsd job_started metric: getaddrinfo ENOTFOUND metrics.invalid",
  ]);
  resolves = true;
  await run();
  await vi.waitFor(() => expect(received).toHaveLength(2), SOON);
  await run();
  expect(sender.lines).toHaveLength(1);
});

test("after trouble is over, new trouble is told again", async () => {
  const { port, socket } = await receiver();
  open.push(socket);
  const clock = simulatedClock(START);
  let resolves = false;
  const sender = statsd({
    clock,
    resolve: async () => {
      if (!resolves) throw new Error("no address");
      return { address: "127.0.0.1", family: 4 };
    },
  });
  for (const now of [false, true, true, false, false]) {
    resolves = now;
    await sender.jobStopped(job(port), stop);
    clock.runUntil(clock.wallNow() + 70_000); // an address is looked up again after a minute
  }
  expect(sender.lines).toEqual([
    "WARNING Job etl: failed to send statsd job_stopped metric: no address",
    "WARNING Job etl: failed to send statsd job_stopped metric: no address",
  ]);
});

test("a port that refuses is one warning for all runs, and a receiver that comes up there is found", async () => {
  const { port, socket } = await receiver();
  socket.close();
  const sender = statsd();
  // The refusal comes back with the next datagram, or by itself: either way it is told.
  const warnings = () => [...sender.lines, ...sender.udpLines];
  await vi.waitFor(async () => {
    sender.jobStarted(job(port));
    await sender.jobStopped(job(port), stop);
    expect(warnings()).toHaveLength(1);
  }, SOON);
  for (let runs = 0; runs < 20; runs += 1) {
    sender.jobStarted(job(port));
    await sender.jobStopped(job(port), stop);
  }
  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toMatch(
    /^WARNING (UDP error received: |Job etl: failed to send statsd job_st\w+ metric: ).*ECONNREFUSED/,
  );
  const back = await receiver(port);
  open.push(back.socket);
  await vi.waitFor(async () => {
    await sender.jobStopped(job(port), stop);
    expect(back.received.length).toBeGreaterThan(0);
  }, SOON);
  await vi.waitFor(() => expect(back.received).toContain("etl.stop:1|g\netl.success:1|g\netl.duration:12|ms\n"), SOON);
});

test("a lookup that never ends holds up neither start nor end of a run for more than two seconds", async () => {
  const clock = simulatedClock(START);
  const sender = statsd({ clock, resolve: () => new Promise(() => undefined) });
  sender.jobStarted(job(1));
  let ended = false;
  const stopped = sender.jobStopped(job(1), stop).then(() => {
    ended = true;
  });
  clock.runUntil(clock.wallNow() + 1_999);
  await Promise.resolve();
  expect(ended).toBe(false);
  clock.runUntil(clock.wallNow() + 1);
  await stopped;
});

test("while a lookup hangs no more than 1 MiB waits", async () => {
  const { port, received, socket } = await receiver();
  open.push(socket);
  socket.setRecvBufferSize(8 * 1024 * 1024);
  let answer = (): void => undefined;
  const sender = statsd({
    resolve: () =>
      new Promise((resolve) => {
        answer = () => resolve({ address: "127.0.0.1", family: 4 });
      }),
  });
  const long = job(port, "slow.invalid", "n".repeat(40_000));
  for (let sent = 0; sent < 40; sent += 1) sender.jobStarted(long);
  sender.jobStarted(job(port, "slow.invalid", "too-much".repeat(2_000)));
  answer();
  await vi.waitFor(() => expect(received.length).toBeGreaterThan(0), SOON);
  await sender.jobStopped(job(port, "slow.invalid", "last"), stop);
  await vi.waitFor(() => expect(received.at(-1)).toContain("last.stop"), SOON);
  expect(received.length).toBeLessThanOrEqual(Math.floor(2 ** 20 / 40_000) + 1);
  expect(received.some((it) => it.startsWith("too-much"))).toBe(false);
});

test("one socket serves a host and port; jobs of another one do not wait for it", async () => {
  const { port, received, socket } = await receiver();
  open.push(socket);
  const hosts: string[] = [];
  const sender = statsd({
    resolve: (host) => {
      hosts.push(host);
      return host === "hangs.invalid"
        ? new Promise(() => undefined)
        : Promise.resolve({ address: "127.0.0.1", family: 4 });
    },
  });
  sender.jobStarted(job(port, "hangs.invalid"));
  for (let runs = 0; runs < 3; runs += 1) await sender.jobStopped(job(port, "well.invalid"), stop);
  await vi.waitFor(() => expect(received).toHaveLength(3), SOON);
  expect(hosts).toEqual(["hangs.invalid", "well.invalid"]);
});

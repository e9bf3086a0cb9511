import { describe, expect, test } from "vitest";
import { lineSplitter } from "../../src/execution/capture/line-splitter.ts";
import { type Ended, supervise } from "../../src/execution/supervised-process.ts";
import { settled, simulatedClock } from "../../src/platform/simulated-clock.ts";
import type { Child, ChildOutput } from "../../src/platform/spawn/spawner.ts";
import { writtenLog } from "../support/node.ts";

/** A process that does only what the test says, on virtual time. */
function scene(options: { killTimeoutSeconds?: number; streams?: readonly ("stdout" | "stderr")[] } = {}) {
  const clock = simulatedClock(1_000_000);
  const lines: string[] = [];
  const signals: string[] = [];
  const text: string[] = [];
  const ends = new Map<string, () => void>();
  const feeds = new Map<string, (bytes: Buffer) => void>();
  let exit: (code: number) => void = () => {};

  const output = (name: string): ChildOutput => ({
    read(onBytes, onEnd) {
      feeds.set(name, onBytes);
      ends.set(name, onEnd);
    },
    resume: () => {},
    close: () => ends.get(name)?.(),
  });
  const streams = options.streams ?? ["stdout", "stderr"];
  const child: Child = {
    pid: 4711,
    stdout: streams.includes("stdout") ? output("stdout") : null,
    stderr: streams.includes("stderr") ? output("stderr") : null,
    exit: new Promise((resolve) => {
      exit = resolve;
    }),
    group: { signal: (signal) => signals.push(`${clock.elapsedNow() / 1000}s ${signal}`) },
    setNice: () => null,
  };
  const supervised = supervise(child, {
    clock,
    log: writtenLog(lines),
    pace: { afterRead: () => "more" },
    subject: "Job backup",
    killTimeoutSeconds: options.killTimeoutSeconds ?? 10,
    onKill: () => signals.push("cage"),
    pipes: streams.map((name) => ({
      name,
      splitter: lineSplitter(1000, () => {}),
      onLines: (block) => text.push(block.text),
    })),
  });
  let ended: Ended | null = null;
  void supervised.ended.then((how) => {
    ended = how;
  });

  return {
    supervised,
    lines,
    signals,
    text,
    clock,
    exits: async (code: number) => {
      exit(code);
      await settled();
    },
    closes: async (name: string) => {
      ends.get(name)?.();
      await settled();
    },
    writes: (name: string, bytes: string) => feeds.get(name)?.(Buffer.from(bytes)),
    at: (seconds: number) => clock.runUntilSettled(1_000_000 + seconds * 1000),
    ended: (): Ended | null => ended,
  };
}

describe("a process that ends by itself", () => {
  test("ends with its last stream, and counts from its exit", async () => {
    const { exits, closes, at, ended, signals } = scene();
    await at(5);
    await exits(3);
    await closes("stdout");
    expect(ended()).toBeNull();
    await at(100_000); // whoever holds the pipe may take their time
    await closes("stderr");
    expect(ended()).toEqual({ exitCode: 3, endedAt: 1_005_000, stopped: null });
    expect(signals).toEqual([]);
  });

  test("may close its streams long before it goes", async () => {
    const { exits, closes, at, ended } = scene();
    await closes("stdout");
    await closes("stderr");
    await at(7);
    expect(ended()).toBeNull();
    await exits(0);
    expect(ended()).toEqual({ exitCode: 0, endedAt: 1_007_000, stopped: null });
  });

  test("without captured streams ends at once", async () => {
    const { exits, ended } = scene({ streams: [] });
    await exits(0);
    expect(ended()).toEqual({ exitCode: 0, endedAt: 1_000_000, stopped: null });
  });

  test("an unterminated last line is kept", async () => {
    const { writes, closes, text } = scene();
    writes("stdout", "one\nlast");
    await closes("stdout");
    expect(text).toEqual(["one\n", "last"]);
  });
});

describe("a stop", () => {
  test("a process that obeys: SIGTERM, its exit, then SIGKILL for its helpers", async () => {
    const { supervised, exits, closes, at, ended, signals, lines, clock } = scene();
    await at(5);
    supervised.stop("cancelled");
    await at(8);
    await exits(-15);
    await closes("stdout");
    await closes("stderr");
    expect(signals).toEqual(["5s SIGTERM", "8s SIGKILL", "cage"]);
    expect(ended()).toEqual({ exitCode: -15, endedAt: 1_008_000, stopped: "cancelled" });
    expect(lines).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("a process that does not: SIGKILL after killTimeout, and a warning", async () => {
    const { supervised, exits, closes, at, ended, signals, lines } = scene();
    supervised.stop("timeout");
    await at(10);
    expect(signals).toEqual(["0s SIGTERM", "10s SIGKILL", "cage"]);
    expect(lines).toEqual(["WARNING Job backup did not gracefully terminate after 10.0 seconds, killing it..."]);
    await exits(-9);
    await closes("stdout");
    await closes("stderr");
    expect(ended()).toEqual({ exitCode: -9, endedAt: 1_010_000, stopped: "timeout" });
    expect(signals).toHaveLength(3); // not killed twice
  });

  test("killTimeout 0: both signals at once, nothing to warn of", async () => {
    const { supervised, signals, lines } = scene({ killTimeoutSeconds: 0 });
    supervised.stop("replaced");
    expect(signals).toEqual(["0s SIGTERM", "0s SIGKILL", "cage"]);
    expect(lines).toEqual([]);
  });

  test("with the process gone and a helper on its pipe: both signals at once, ended by the kill", async () => {
    const { supervised, exits, closes, at, ended, signals } = scene();
    await exits(0);
    await at(2);
    supervised.stop("timeout");
    expect(signals).toEqual(["2s SIGTERM", "2s SIGKILL", "cage"]);
    await closes("stdout");
    await closes("stderr");
    expect(ended()).toEqual({ exitCode: 0, endedAt: 1_002_000, stopped: "timeout" });
  });

  test("the first cause stays", async () => {
    const { supervised, exits, closes, signals, ended } = scene();
    supervised.stop("timeout");
    supervised.stop("cancelled");
    await exits(-15);
    await closes("stdout");
    await closes("stderr");
    supervised.stop("replaced");
    expect(ended()?.stopped).toBe("timeout");
    expect(signals).toEqual(["0s SIGTERM", "0s SIGKILL", "cage"]);
  });
});

describe("a stream that somebody holds after the kill", () => {
  test("both get 30 seconds together, then they are closed and named; the text is kept", async () => {
    const { supervised, writes, exits, at, ended, lines, text } = scene({ killTimeoutSeconds: 0 });
    writes("stdout", "kept");
    supervised.stop("timeout");
    await exits(-15);
    await at(29.9);
    expect(ended()).toBeNull();
    await at(30);
    const ending = "did not reach end-of-file within 30.0 seconds of the job being killed";
    const rest = "a process that left its group holds it. What was captured is kept";
    expect(lines).toEqual([
      `WARNING job backup: stdout ${ending}; ${rest}`,
      `WARNING job backup: stderr ${ending}; ${rest}`,
    ]);
    expect(text).toEqual(["kept"]);
    expect(ended()).toEqual({ exitCode: -15, endedAt: 1_000_000, stopped: "timeout" });
  });

  test("a process that outlives even SIGKILL is waited for: it still runs", async () => {
    const { supervised, exits, at, ended } = scene({ killTimeoutSeconds: 0 });
    supervised.stop("cancelled");
    await at(600);
    expect(ended()).toBeNull();
    await exits(-9);
    expect(ended()).toEqual({ exitCode: -9, endedAt: 1_600_000, stopped: "cancelled" });
  });
});

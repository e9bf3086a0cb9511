import { expect, test } from "vitest";
import { createMirror } from "../../../src/execution/capture/mirror.ts";
import type { OutputTarget } from "../../../src/platform/output-target.ts";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import { writtenLog } from "../../support/node.ts";

const block = (text: string) => ({
  text,
  lines: text.split("\n").length - (text.endsWith("\n") ? 1 : 0),
  bytes: Buffer.byteLength(text),
});

/** A mirror whose targets take what the test lets them take. */
function scene() {
  const clock = simulatedClock(0);
  const logged: string[] = [];
  const written: string[] = [];
  let mode: "open" | "full" | Error = "open";
  let waiting: (() => void)[] = [];

  const target = (name: string): OutputTarget => ({
    write(bytes, done) {
      const finish = (): void => {
        if (mode instanceof Error) {
          done(mode);
          return;
        }
        written.push(`${name}: ${bytes}`);
        done(null);
      };
      if (mode === "full") waiting.push(finish);
      else finish();
    },
    close: () => {},
  });
  const mirror = createMirror({ stdout: target("out"), stderr: target("err") }, clock, writtenLog(logged));
  return {
    mirror,
    logged,
    written,
    clock,
    set(next: typeof mode) {
      mode = next;
      const ready = next === "full" ? [] : waiting;
      if (next !== "full") waiting = [];
      for (const finish of ready) finish();
    },
  };
}

test("each line gets its prefix, one read is one write", () => {
  const { mirror, written } = scene();
  mirror.write("stdout", "[a stdout] ", block("one\n\nthree\n"));
  mirror.write("stderr", "", block("plain\n"));
  expect(written).toEqual(["out: [a stdout] one\n[a stdout] \n[a stdout] three\n", "err: plain\n"]);
});

test("an unterminated line gets its newline, so that nothing is glued to it", () => {
  const { mirror, written } = scene();
  mirror.write("stdout", "> ", block("noeol"));
  mirror.write("stdout", "> ", block("next\n"));
  expect(written).toEqual(["out: > noeol\n", "out: > next\n"]);
});

test("a slow reader gets all of it in the order in which it was read, across both streams", () => {
  const { mirror, written, logged, set } = scene();
  set("full");
  mirror.write("stdout", "", block("1\n"));
  mirror.write("stderr", "", block("2\n"));
  mirror.write("stdout", "", block("3\n"));
  mirror.write("stdout", "", block("4\n"));
  expect(written).toEqual([]);
  set("open");
  expect(written).toEqual(["out: 1\n", "err: 2\n", "out: 3\n4\n"]);
  expect(logged).toEqual([]);
});

test("many short outputs do not use up the queue", () => {
  const { mirror, written, logged, set } = scene();
  set("full");
  for (let line = 0; line < 5000; line++) mirror.write("stdout", "", block(`${line}\n`));
  set("open");
  expect(written.join("").match(/\d+\n/g)).toHaveLength(5000);
  expect(logged).toEqual([]);
});

test("of what does not fit, the oldest is shed, and one warning counts it once all is written", () => {
  const { mirror, written, logged, set } = scene();
  set("full");
  const large = `${"x".repeat(99_999)}\n`;
  for (let line = 0; line < 200; line++) mirror.write("stdout", "", block(large)); // 20 MB for 8 MiB
  expect(logged).toEqual([]);
  set("open");
  const kept = written.length;
  expect(kept).toBeLessThan(90);
  expect(kept).toBeGreaterThan(80);
  expect(logged).toEqual([
    `WARNING ${200 - kept} lines of job output were not mirrored to the daemon's output because it was not read in time; what the jobs keep is complete`,
  ]);
  mirror.write("stdout", "", block("on\n"));
  expect(logged).toHaveLength(1);
});

test("alternating streams are held to the number of batches", () => {
  const { mirror, written, set } = scene();
  set("full");
  for (let line = 0; line < 2000; line++) mirror.write(line % 2 === 0 ? "stdout" : "stderr", "", block(`${line}\n`));
  set("open");
  expect(written).toHaveLength(513); // the one under way, and the queue
  expect(written.at(-1)).toBe("err: 1999\n");
});

test("a broken target is told of once, until it works again", () => {
  const { mirror, written, logged, set } = scene();
  set(new Error("EPIPE: broken pipe"));
  mirror.write("stdout", "", block("lost\n"));
  mirror.write("stdout", "", block("lost too\n"));
  expect(logged).toEqual([
    "WARNING cannot mirror the output of jobs to the daemon's stdout: EPIPE: broken pipe; it is still captured",
  ]);
  set("open");
  mirror.write("stdout", "", block("seen\n"));
  expect(written).toEqual(["out: seen\n"]);
  expect(logged).toHaveLength(2);
  expect(logged[1]).toMatch(/^WARNING 2 lines/);
});

test("draining waits for the queue, and for no more than a second", async () => {
  const { mirror, clock, set } = scene();
  await mirror.drain();
  set("full");
  mirror.write("stdout", "", block("1\n"));
  const patient = mirror.drain();
  set("open");
  await patient;
  expect(clock.elapsedNow()).toBe(0);
  set("full");
  mirror.write("stdout", "", block("2\n"));
  const impatient = mirror.drain();
  clock.runUntil(1000);
  await impatient;
});

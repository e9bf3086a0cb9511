import { expect, test } from "vitest";
import type { OutputLine } from "../../../src/contract/launcher.ts";
import { liveOutput } from "../../../src/execution/capture/live-output.ts";

const readAt = Date.parse("2026-03-01T12:00:00Z");
const clock = { wallNow: () => readAt };
const block = (...lines: readonly string[]) => {
  const text = lines.map((line) => `${line}\n`).join("");
  return { text, lines: lines.length, bytes: text.length };
};
const numbered = (from: number, count: number) => Array.from({ length: count }, (_, index) => `${from + index}`);
const turn = () => new Promise(setImmediate);

function listen(output: ReturnType<typeof liveOutput>["output"]) {
  const heard: (OutputLine | "end")[] = [];
  const unsubscribe = output.subscribe(
    (lines) => heard.push(...lines),
    () => heard.push("end"),
  );
  return { heard, unsubscribe };
}

test("the newest 1000 lines are at hand, and all are counted", () => {
  const { output, publish } = liveOutput(clock);
  publish("stdout", block(...numbered(0, 700)));
  publish("stderr", block(...numbered(700, 700)));
  expect(output.published).toBe(1400);
  const recent = output.recent();
  expect(recent).toHaveLength(1000);
  expect(recent[0]).toEqual({ stream: "stdout", line: "400", readAt });
  expect(recent[999]).toEqual({ stream: "stderr", line: "1399", readAt });
});

test("an empty line and an unterminated one are lines", () => {
  const { output, publish } = liveOutput(clock);
  publish("stdout", { text: "\n\nend", lines: 3, bytes: 5 });
  expect(output.recent().map(({ line }) => line)).toEqual(["", "", "end"]);
});

test("a subscriber and `recent` in the same turn leave no gap and repeat nothing", async () => {
  const { output, publish, end } = liveOutput(clock);
  const { heard: early } = listen(output);
  publish("stdout", block("a", "b"));
  const { heard } = listen(output);
  const before = output.recent().map(({ line }) => line);
  publish("stdout", block("c"));
  await turn();
  publish("stderr", block("d"));
  end();
  await turn();
  expect(before).toEqual(["a", "b"]);
  expect(heard).toEqual([{ stream: "stdout", line: "c", readAt }, { stream: "stderr", line: "d", readAt }, "end"]);
  expect(early).toHaveLength(5);
});

test("of a flood a subscriber gets the newest lines of a turn", async () => {
  const { output, publish } = liveOutput(clock);
  const { heard } = listen(output);
  for (let from = 0; from < 20_000; from += 100) publish("stdout", block(...numbered(from, 100)));
  await turn();
  expect(heard).toHaveLength(8192);
  expect(heard[0]).toEqual({ stream: "stdout", line: "11808", readAt });
});

test("who comes after the end hears the end, in a later turn", async () => {
  const { output, publish, end } = liveOutput(clock);
  publish("stdout", block("a"));
  end();
  const { heard } = listen(output);
  expect(heard).toEqual([]);
  await turn();
  expect(heard).toEqual(["end"]);
});

test("who has unsubscribed hears nothing more, not even what was waiting", async () => {
  const { output, publish, end } = liveOutput(clock);
  const { heard, unsubscribe } = listen(output);
  publish("stdout", block("a"));
  unsubscribe();
  end();
  await turn();
  expect(heard).toEqual([]);
});

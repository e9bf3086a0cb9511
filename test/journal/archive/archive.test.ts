import { describe, expect, onTestFinished, test } from "vitest";
import type { OutputLine } from "../../../src/contract/launcher.ts";
import { createOutputArchive } from "../../../src/journal/archive/archive.ts";
import { createRedactor } from "../../../src/journal/archive/redactor.ts";
import { ARCHIVED_CHARS_MAX } from "../../../src/journal/limits.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { jobConfig } from "../../support/job-config.ts";
import { journalBench, NOON } from "../support/journal-bench.ts";
import { failed, ran } from "../support/rows.ts";

const out = (line: string): OutputLine => ({ stream: "stdout", line });
const err = (line: string): OutputLine => ({ stream: "stderr", line });

function start() {
  const bench = journalBench();
  const redactor = createRedactor(systemClock);
  onTestFinished(() => redactor.close());
  const { backend, writes } = bench;
  return { ...bench, redactor, archive: createOutputArchive({ backend, writes, redactor, maxRunsPerJob: () => 1000 }) };
}

const job = jobConfig({ name: "backup", archiveOutput: true });

describe("ARC-3: what is archived", () => {
  test("lines of both streams as they arrived, with their newline, redacted", async () => {
    const { archive, bodies, writes } = start();
    const recent = [
      err("Authorization: Bearer abcdefgh"),
      out("hello"),
      out("PASSWORD=x"),
      { ...out("checked"), stream: "verify.stdout" } as const,
    ];
    archive.store(job, failed(NOON), { recent, published: 4 });
    await writes.settled("logs/backup");
    expect(await bodies("logs/backup")).toEqual([
      {
        dropped_lines: 0,
        exit_code: 1,
        finished_at: "2026-11-30T12:00:00+00:00",
        lines: [
          { line: "Authorization: Bearer ***REDACTED***\n", stream: "stderr" },
          { line: "hello\n", stream: "stdout" },
          { line: "PASSWORD=***REDACTED***\n", stream: "stdout" },
        ],
        outcome: "failure",
        redacted: true,
      },
    ]);
  });

  test("ARC-1: is read back as it was, newest first", async () => {
    const { archive, writes } = start();
    archive.store(job, ran(NOON), { recent: [out("one")], published: 1 });
    archive.store(job, ran(NOON + 1000), { recent: [out("two")], published: 1 });
    await writes.settled("logs/backup");
    expect(await archive.newest("backup", 1)).toEqual({
      kind: "done",
      value: [
        {
          outcome: "success",
          exitCode: 0,
          finishedAt: NOON + 1000,
          lines: [out("two")],
          droppedLines: 0,
          redacted: true,
        },
      ],
    });
  });

  test("the newest thousand lines at most, the rest is counted", async () => {
    const { archive, bodies, writes } = start();
    const recent = Array.from({ length: 1100 }, (_, n) => out(`line ${n}`));
    archive.store(job, ran(NOON), { recent, published: 5000 });
    await writes.settled("logs/backup");
    const [body] = await bodies("logs/backup");
    expect(body).toMatchObject({ dropped_lines: 4000, lines: { length: 1000, 0: { line: "line 100\n" } } });
  });

  test("of endless lines as many as fit, and at least the count of the others", async () => {
    const { archive, bodies, writes } = start();
    const half = "x".repeat(ARCHIVED_CHARS_MAX / 2);
    const plain = { ...job, redactArchivedSecrets: false };
    archive.store(plain, ran(NOON), { recent: [out(half), out(half), out("end")], published: 3 });
    await writes.settled("logs/backup");
    expect((await bodies("logs/backup"))[0]).toMatchObject({
      dropped_lines: 1,
      lines: { length: 2, 1: { line: "end\n" } },
    });
  });

  test("half a surrogate pair does not cost the whole record", async () => {
    const { archive, bodies, writes } = start();
    archive.store(job, ran(NOON), { recent: [out("cut \ud83d")], published: 1 });
    await writes.settled("logs/backup");
    expect((await bodies("logs/backup"))[0]).toMatchObject({ lines: [{ line: "cut \ufffd\n" }] });
  });

  test("nothing without archiveOutput, and nothing when saveLimit is 0", async () => {
    const { archive, writes } = start();
    archive.store(jobConfig({ name: "backup" }), ran(NOON), { recent: [out("a")], published: 1 });
    archive.store(jobConfig({ name: "backup", archiveOutput: true, launch: { saveLimitLines: 0 } }), ran(NOON), {
      recent: [],
      published: 0,
    });
    expect(writes.pending).toBe(0);
  });
});

describe("ARC-2: redaction", () => {
  test("is left out where the output itself is the artifact", async () => {
    const { archive, bodies, writes } = start();
    archive.store({ ...job, redactArchivedSecrets: false }, ran(NOON), { recent: [out("PASSWORD=x")], published: 1 });
    await writes.settled("logs/backup");
    expect((await bodies("logs/backup"))[0]).toMatchObject({ redacted: false, lines: [{ line: "PASSWORD=x\n" }] });
  });

  test("of much output happens in a thread while the event loop goes on", async () => {
    const { redactor } = start();
    const lines = Array.from({ length: 1000 }, (_, n) => ({
      stream: "stdout" as const,
      line: `${n} token=abc ${"eyJ".repeat(100)}`,
    }));
    let turns = 0;
    let going = true;
    const count = (): void => {
      turns++;
      if (going) setImmediate(count);
    };
    count();
    const redacted = await redactor.redact(lines);
    going = false;
    expect(redacted).toMatchObject({ kind: "done", lines: { length: 1000, 7: { line: "7 token=***REDACTED***" } } });
    expect(turns).toBeGreaterThan(10);
  });

  test("that cannot be done keeps the output out of the store, and counts as a lost write", async () => {
    const { archive, redactor, bodies, writes, drops } = start();
    const recent = Array.from({ length: 1000 }, () => out("eyJ".repeat(100)));
    archive.store(job, ran(NOON), { recent, published: 1000 });
    await redactor.close();
    await writes.settled("logs/backup");
    expect(await bodies("logs/backup")).toEqual([]);
    expect(drops.counts()["run-record"]).toBe(1);
  });
});

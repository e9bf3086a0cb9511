import { Worker } from "node:worker_threads";
import type { Clock } from "../../platform/clock.ts";
import { workerEntry } from "../../platform/worker-entry.ts";
import {
  REDACTED_INLINE_CHARS_MAX,
  REDACTION_PATIENCE_MS,
  REDACTION_QUEUE_MAX,
  REDACTION_THREAD_IDLE_MS,
} from "../limits.ts";
import { type OutputText, redactLines } from "./redaction.rules.ts";

export type Redacted =
  | { readonly kind: "done"; readonly lines: readonly OutputText[] }
  | { readonly kind: "failed"; readonly reason: string };

/** Scrubs output without keeping the event loop from anything else (ARC-3). */
export interface Redactor {
  redact(lines: readonly OutputText[]): Promise<Redacted>;
  /** Ends the thread; what it was at fails. */
  close(): Promise<void>;
}

interface Job {
  readonly lines: readonly OutputText[];
  readonly answer: (redacted: Redacted) => void;
}

/** Little output is scrubbed at once; for more a thread starts, does one run after the other, and ends when nothing comes. */
export function createRedactor(clock: Clock): Redactor {
  const waiting: Job[] = [];
  let worker: Worker | null = null;
  let current: Job | null = null;
  let cancelTimer = (): void => {};

  const thread = (): Worker => {
    if (worker !== null) return worker;
    const made = new Worker(workerEntry("redaction", import.meta.url), { name: "redaction" });
    made.unref();
    made.on("message", (lines: readonly OutputText[]) => finish({ kind: "done", lines }));
    made.on("error", (error) => ended(made, error.message));
    made.on("exit", () => ended(made, "the redaction thread ended"));
    worker = made;
    return made;
  };

  const ended = (which: Worker, reason: string): void => {
    if (which !== worker) return;
    worker = null;
    finish({ kind: "failed", reason });
  };

  const finish = (redacted: Redacted): void => {
    cancelTimer();
    const { answer } = current ?? {};
    current = null;
    answer?.(redacted);
    next();
  };

  const next = (): void => {
    if (current !== null) return;
    const job = waiting.shift();
    if (job === undefined) {
      if (worker !== null) cancelTimer = clock.after(REDACTION_THREAD_IDLE_MS, () => void stop());
      return;
    }
    cancelTimer();
    current = job;
    thread().postMessage(job.lines);
    cancelTimer = clock.after(REDACTION_PATIENCE_MS, () => {
      void stop();
      finish({ kind: "failed", reason: `not done within ${REDACTION_PATIENCE_MS / 1000} s` });
    });
  };

  const stop = async (): Promise<void> => {
    const stopped = worker;
    worker = null;
    cancelTimer();
    await stopped?.terminate();
  };

  return {
    redact(lines) {
      const chars = lines.reduce((sum, { line }) => sum + line.length, 0);
      if (chars <= REDACTED_INLINE_CHARS_MAX) return Promise.resolve({ kind: "done", lines: redactLines(lines) });
      if (waiting.length >= REDACTION_QUEUE_MAX)
        return Promise.resolve({ kind: "failed", reason: `the output of ${waiting.length} runs is waiting already` });
      return new Promise((answer) => {
        waiting.push({ lines, answer });
        next();
      });
    },
    async close() {
      for (const { answer } of waiting.splice(0)) answer({ kind: "failed", reason: "the daemon is stopping" });
      await stop();
      finish({ kind: "failed", reason: "the daemon is stopping" });
    },
  };
}

import type { FailsWhen } from "../config/model.ts";
import type { CapturedStream, LimitsRecord, Verification } from "../contract/run.ts";

/** What a verdict is made from (running 4). */
export interface VerdictFacts {
  readonly exitCode: number;
  /** Null when not captured: such a stream never fails a run (F-5). */
  readonly stdout: CapturedStream | null;
  readonly stderr: CapturedStream | null;
  readonly failsWhen: FailsWhen;
  readonly verification: Verification | null;
  readonly limits: LimitsRecord | null;
  /** Why the run was refused a start: a required cap that cannot be enforced. */
  readonly limitsRefused: string | null;
}

/** The one reason for which a run failed, null when it succeeded: the first that applies (F-1, F-6). */
export function failReason(facts: VerdictFacts): string | null {
  const { verification, limits, limitsRefused, failsWhen, exitCode } = facts;
  if (verification !== null && verification.outcome !== "passed" && verification.outcome !== "cancelled") {
    return `verification failed: ${verification.reason ?? verification.outcome}`;
  }
  if (limitsRefused !== null) return `resource limits could not be enforced: ${limitsRefused}`;
  if (limits?.memoryExceeded) return `memory limit exceeded (${mebibytes(limits.requested.memoryBytes ?? 0)} MiB)`;
  if (failsWhen.always) return "configured to mark every run as failed (failsWhen.always)";
  if (failsWhen.nonzeroReturn && exitCode !== 0) return `command exited with code ${exitCode}`;
  if (failsWhen.producesStdout && hasOutput(facts.stdout))
    return "command wrote to stdout (configured to count as a failure)";
  if (failsWhen.producesStderr && hasOutput(facts.stderr))
    return "command wrote to stderr (configured to count as a failure)";
  return null;
}

/** Discarded lines count: they were written (F-4). */
function hasOutput(stream: CapturedStream | null): boolean {
  return stream !== null && (stream.text !== "" || stream.discardedLines > 0);
}

function mebibytes(bytes: number): string {
  const value = bytes / 2 ** 20;
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

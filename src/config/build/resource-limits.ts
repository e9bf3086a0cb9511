/** `resourceLimits` (6.5). */
import type { ResourceLimits } from "../model.ts";
import type { JobDefaults } from "../options/job.ts";
import type { Subject } from "../subject.ts";

const mebibyte = 1024 ** 2;

/** Null, and problems of `subject`, when no cap is left to enforce or the memory is no size. */
export function resourceLimits(
  { cpu, memory, processes, required }: NonNullable<JobDefaults["resourceLimits"]>,
  subject: Subject,
): ResourceLimits | null {
  if (cpu === undefined && memory === undefined && processes === undefined) {
    subject.problem(["resourceLimits"], "resourceLimits must set at least one of cpu, memory, processes");
    return null;
  }
  const memoryBytes = memory === undefined ? null : bytesOf(memory);
  if (memory !== undefined && memoryBytes === null) {
    const problem = "resourceLimits.memory must be a number of bytes, or a number with K, M, G or T (powers of 1024)";
    subject.problem(["resourceLimits", "memory"], problem);
    return null;
  }
  if (memoryBytes !== null && memoryBytes < mebibyte) {
    subject.problem(["resourceLimits", "memory"], "resourceLimits.memory must be >= 1 MiB");
    return null;
  }
  return { cpu: cpu ?? null, memoryBytes, processes: processes ?? null, required: required ?? false };
}

function bytesOf(size: string): number | null {
  const match = /^([0-9]+(?:\.[0-9]+)?)\s*([BKMGT])?(?:I?B)?$/i.exec(size);
  if (match === null) return null;
  const power = "BKMGT".indexOf((match[2] ?? "B").toUpperCase());
  return Math.floor(Number(match[1]) * 1024 ** power);
}

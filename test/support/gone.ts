import { readFileSync } from "node:fs";

/** Resolves when no such process runs; a dead one that nobody has reaped yet counts as gone. */
export async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))) return;
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

import { execFileSync } from "node:child_process";
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { lanesFrom } from "./filesystem.ts";

/** Store threads that can get into trouble. */
export const troubledLanes = () => lanesFrom("test/store/support/troubled-lane.worker.ts");

/** Makes every write to the store at `path` hang, get stuck in the operating system or end its thread, until `over`. */
export function trouble(path: string, kind: "hang" | "stuck" | "die"): { over(): void } {
  const marker = `${path}.trouble`;
  const pipe = `${marker}.pipe`;
  if (kind === "stuck") execFileSync("mkfifo", [pipe]);
  writeFileSync(`${marker}.new`, kind);
  renameSync(`${marker}.new`, marker);
  const over = (): void => {
    rmSync(marker, { force: true });
    if (kind !== "stuck") return;
    closeSync(openSync(pipe, "r+")); // lets go whoever waits for a writer
    rmSync(pipe, { force: true });
  };
  onTestFinished(() => {
    rmSync(marker, { force: true });
    rmSync(pipe, { force: true });
  });
  return { over };
}

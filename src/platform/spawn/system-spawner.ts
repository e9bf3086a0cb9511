import type { Spawner } from "./spawner.ts";

/**
 * The best way to start processes this system has, chosen at the first start so that a daemon without one loads nothing.
 *
 * @param onFallback told once, with the reason, when it is Node's child_process
 */
export function systemSpawner(onFallback: (reason: string) => void): Spawner {
  let chosen: Spawner | null = null;
  let choosing: Promise<Spawner> | null = null;

  async function choose(): Promise<Spawner> {
    try {
      const { posixSpawner } = await import("./posix-spawn.ts");
      chosen = await posixSpawner();
    } catch (error) {
      const { childProcessSpawner } = await import("./child-process.ts");
      chosen = childProcessSpawner;
      onFallback(error instanceof Error ? error.message : String(error));
    }
    return chosen;
  }

  return {
    async spawn(request) {
      if (chosen !== null) return chosen.spawn(request);
      choosing ??= choose();
      return (await choosing).spawn(request);
    },
  };
}

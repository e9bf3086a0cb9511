import { childProcessSpawner } from "../../src/platform/spawn/child-process.ts";
import { posixSpawner } from "../../src/platform/spawn/posix-spawn.ts";
import { systemSpawner } from "../../src/platform/spawn/system-spawner.ts";
import { spawnerContract } from "./spawner.ts";

const linux = process.platform === "linux";

if (linux) spawnerContract("posix_spawn", posixSpawner);
spawnerContract("child_process", async () => childProcessSpawner);
if (linux) {
  spawnerContract("the system's choice", async () =>
    systemSpawner((reason) => {
      throw new Error(`posix_spawn was not chosen: ${reason}`);
    }),
  );
}

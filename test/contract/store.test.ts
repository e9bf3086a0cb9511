import { setTimeout } from "node:timers/promises";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { memoryMedium } from "../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../src/store/memory/open.ts";
import { openStore } from "../store/support/filesystem.ts";
import { ownDirectory } from "../store/support/temporary.ts";
import { storeContract } from "./store-contract.ts";

storeContract("in memory", async () => {
  const medium = memoryMedium();
  const clock = simulatedClock(Date.now());
  const a = openMemoryStore({ medium, clock, writer: "aaaaaaaaaaaa" });
  const b = openMemoryStore({ medium, clock, writer: "bbbbbbbbbbbb" });
  return {
    a,
    b,
    pass: (ms) => clock.runUntilSettled(clock.wallNow() + ms),
    async close() {
      await a.close(0);
      await b.close(0);
    },
  };
});

storeContract("on a file system", async () => {
  const directory = ownDirectory();
  const [a, b] = await Promise.all([openStore(directory.path), openStore(directory.path)]);
  return {
    a,
    b,
    pass: (ms) => setTimeout(ms), // real time: the store's threads read the system's clock
    async close() {
      await Promise.all([a.close(5000), b.close(5000)]);
      directory.remove();
    },
  };
});

import { monitorEventLoopDelay } from "node:perf_hooks";
import { Worker } from "node:worker_threads";

/**
 * Watches how long this thread's event loop is kept from turning, beside that of a thread that does nothing: what the machine
 * itself takes away hits both.
 */
export async function watchLoop(): Promise<{ stop(): Promise<{ readonly oursMs: number; readonly idleMs: number }> }> {
  const control = new Worker(
    `const { parentPort } = require("node:worker_threads");
     const delay = require("node:perf_hooks").monitorEventLoopDelay({ resolution: 5 });
     delay.enable();
     parentPort.on("message", () => parentPort.postMessage(delay.max / 1e6));
     parentPort.postMessage(null);`,
    { eval: true, execArgv: [] },
  );
  const answer = (): Promise<number> => new Promise((resolve) => control.once("message", resolve));
  await answer();
  const ours = monitorEventLoopDelay({ resolution: 5 });
  ours.enable();
  return {
    async stop() {
      ours.disable();
      const idle = answer();
      control.postMessage("read");
      const idleMs = await idle;
      await control.terminate();
      return { oursMs: ours.max / 1e6, idleMs };
    },
  };
}

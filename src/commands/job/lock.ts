import { type LockRequest, lockAcquire, lockRelease } from "../../client/job/calls.ts";
import { Refusal } from "../errors.ts";
import { type Arguments, exitCode, type Flag, type JobFamily, operand, scopeFlags, scopeOf } from "./job-command.ts";

const lockFlags: readonly Flag[] = [
  { name: "permits", value: "N", kind: "integer", summary: "holders there may be at once, 1 to 1024 (default: 1)" },
  { name: "wait", summary: "wait for the lock for as long as --timeout says" },
  { name: "timeout", value: "SECONDS", kind: "number", summary: "how long --wait waits (default: 0)" },
  { name: "ttl", value: "SECONDS", kind: "number", summary: "how long the lock outlives a daemon that dies" },
  ...scopeFlags,
];

/** `cronstable lock run|acquire|release`: mutexes and semaphores across the fleet (LOK-2). */
export const lockFamily: JobFamily = {
  word: "lock",
  commands: [
    {
      action: "run",
      summary: "run a command while holding a lock, and exit as it does",
      operands: [{ name: "name" }, { name: "command", presence: "rest" }],
      flags: lockFlags,
      async run(args, { endpoint, complain }) {
        const [name = "", ...command] = args.operands;
        if (command.length === 0) throw new Refusal("lock run needs a command to run (put it after `--`)");
        const to = endpoint();
        const lock = {
          acquire: (abort: AbortSignal) => lockAcquire(to, scopeOf(args), name, lockRequest(args), abort),
          release: (token: string) => lockRelease(to, token),
        };
        const { runUnderLock } = await import("./run-under-lock.ts");
        const ended = await runUnderLock(lock, command);
        if (ended.releaseProblem !== null)
          complain(`cronstable lock: the lock was not released and frees itself later: ${ended.releaseProblem}`);
        if (ended.kind === "taken") complain(`lock not acquired: ${name}`);
        return ended.kind === "taken" ? exitCode.notAcquired : ended.code;
      },
    },
    {
      action: "acquire",
      summary: "take a lock until it is released or the run ends, and print its token",
      operands: [{ name: "name" }],
      flags: lockFlags,
      async run(args, { endpoint, print, complain }) {
        const name = operand(args);
        const held = await lockAcquire(endpoint(), scopeOf(args), name, lockRequest(args));
        if (held === null) {
          complain(`lock not acquired: ${name}`);
          return exitCode.notAcquired;
        }
        print(held.token);
        return exitCode.ok;
      },
    },
    {
      action: "release",
      summary: "give a lock back",
      operands: [{ name: "token" }],
      flags: [],
      async run(args, { endpoint }) {
        await lockRelease(endpoint(), operand(args));
        return exitCode.ok;
      },
    },
  ],
};

function lockRequest({ flags }: Arguments): LockRequest {
  const ttl = flags.get("ttl");
  return {
    permits: Number(flags.get("permits") ?? 1),
    wait: flags.has("wait"),
    blockSeconds: Number(flags.get("timeout") ?? 0),
    ttlSeconds: ttl === undefined ? null : Number(ttl),
  };
}

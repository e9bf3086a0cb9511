import type { ProcessGroup } from "./process-group.ts";

/**
 * Starts processes, each in a session of its own. `posix-spawn.ts` and `child-process.ts` keep this promise alike
 * (`test/contract/spawner.ts`); `system-spawner.ts` picks one.
 */
export interface Spawner {
  /**
   * Starts one process. Its standard input is the daemon's, no other descriptor of the daemon reaches it, and its signals are unblocked
   * and at their defaults.
   *
   * Never rejects: whatever keeps the process from starting is a "failed" whose message says what, where and what to do (running 1.5).
   */
  spawn(request: SpawnRequest): Promise<SpawnOutcome>;
}

export interface SpawnRequest {
  /** Program and arguments, at least one. A program without a slash is looked up in the child's own PATH. */
  readonly argv: readonly string[];
  readonly environment: ChildEnvironment;
  /** null = the daemon's. */
  readonly workingDirectory: string | null;
  readonly stdout: "pipe" | "inherit";
  readonly stderr: "pipe" | "inherit";
}

/** The complete environment of a child: `base` with `added` laid over it. */
export interface ChildEnvironment {
  /** Hand the same object to every start that shares it: what a spawner derives from it is kept with it. */
  readonly base: Readonly<Record<string, string>>;
  readonly added: Readonly<Record<string, string>>;
}

export type SpawnOutcome =
  | { readonly kind: "started"; readonly child: Child }
  | { readonly kind: "failed"; readonly message: string };

export interface Child {
  readonly pid: number;
  /** null when inherited. One that is not must be read or closed. */
  readonly stdout: ChildOutput | null;
  readonly stderr: ChildOutput | null;
  /** Settles once the process has ended, with its exit code, or -N when signal N ended it. Never rejects. */
  readonly exit: Promise<number>;
  readonly group: ProcessGroup;
  /**
   * Gives every process of the group this nice level, -20 to 19.
   *
   * @returns why the system refused, null when it did not. A group that is gone already is no refusal.
   */
  setNice(level: number): string | null;
}

/** Our end of a pipe that a child writes to. */
export interface ChildOutput {
  /**
   * Reads until every holder of the other end is gone; called once. `bytes` are valid during the call only. "wait" stops reading until
   * `resume`. `onEnd` comes once, also after `close`.
   */
  read(onBytes: (bytes: Buffer) => "more" | "wait", onEnd: () => void): void;
  resume(): void;
  close(): void;
}

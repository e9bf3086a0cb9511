import type { Endpoint } from "../../client/job/endpoint.ts";

/** Exit codes of the job-facing commands (state 20); 2 is a usage error. */
export const exitCode = { ok: 0, error: 1, notAcquired: 3, absent: 4, claimed: 5 } as const;

/** A word of the command line and what a job does with it: `state get`, `lock run`, `idempotent`. */
export interface JobFamily {
  readonly word: string;
  readonly commands: readonly JobCommand[];
}

export interface JobCommand {
  /** Null for a family that is one command. */
  readonly action: string | null;
  readonly summary: string;
  readonly operands: readonly Operand[];
  readonly flags: readonly Flag[];
  /** @returns the exit code. @throws JobApiError, or Refusal: one line on stderr, exit code 1 */
  run(args: Arguments, job: JobSide): Promise<number>;
}

export interface Operand {
  readonly name: string;
  /** By default it must be there; "rest" takes all that follows, `--` included (CLI-4). */
  readonly presence?: "optional" | "rest";
}

export interface Flag {
  /** `scope` for `--scope`. */
  readonly name: string;
  readonly short?: string;
  readonly summary: string;
  /** What it takes, as help shows it; a switch has none. */
  readonly value?: string;
  readonly kind?: "integer" | "number" | "key";
  readonly required?: true;
  /** Flag that cannot be given together with this one. */
  readonly excludes?: string;
}

export interface Arguments {
  readonly operands: readonly string[];
  /** By name; a switch that is given has the value "". */
  readonly flags: ReadonlyMap<string, string>;
}

/** What a command has of the process it runs in. */
export interface JobSide {
  /** @throws JobApiError outside of a job */
  endpoint(): Endpoint;
  readonly environment: NodeJS.ProcessEnv;
  /** A line on stdout. */
  print(line: string): void;
  /** A line on stderr. */
  complain(line: string): void;
}

export const scopeFlags: readonly Flag[] = [
  { name: "scope", value: "NAME", summary: "scope to act in (default: the job's own)", excludes: "global" },
  { name: "global", summary: "act in the scope that all jobs share", excludes: "scope" },
];

/** The scope that the flags name; null for the job's own. */
export function scopeOf({ flags }: Arguments): string | null {
  return flags.has("global") ? "global" : (flags.get("scope") ?? null);
}

/** Operand of a command that requires it: the reader has seen to it that it is there. */
export function operand({ operands }: Arguments, at = 0): string {
  return operands[at] ?? "";
}

const forms: Readonly<Record<NonNullable<Flag["kind"]>, { readonly form: RegExp; readonly said: string }>> = {
  integer: { form: /^[+-]?\d+$/, said: "a whole number" },
  number: { form: /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, said: "a number" },
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters would forge lines of a list (D-XCM-7)
  key: { form: /^[^\u0000-\u001f\u007f]+$/, said: "a key: it is empty or has control characters" },
};

/** What is wrong with a flag's value; null when nothing is. */
export function valueProblem({ kind }: Flag, text: string): string | null {
  if (kind === undefined || forms[kind].form.test(text)) return null;
  return `'${text}' is not ${forms[kind].said}`;
}

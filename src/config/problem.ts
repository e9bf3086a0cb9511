import { problemsMax, warningsMax } from "./limits.ts";
import type { ConfigWarning, Place } from "./model.ts";

/** One thing wrong with a configuration; data until the edge, so terminal, reload and dashboard each show it their way. */
export interface ConfigProblem {
  /** The start of the file where the file as a whole is the trouble. */
  readonly at: Place;
  /** `jobs[2].onFailure.retry`; empty for the file as a whole. */
  readonly path: string;
  readonly job: string | null;
  /** What is wrong and what would be right. */
  readonly problem: string;
}

/** A step into a mapping (its key) or a list (its index). */
export type Step = string | number;

/** `jobs[2].onFailure.retry`; a key that is not a plain word stands in quotes. */
export function pathText(path: readonly Step[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[\w-]+$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** `file:line:column: path (job "name"): problem`, which terminals and editors make clickable. */
export function problemText({ at, path, job, problem }: ConfigProblem): string {
  const subject = [path, job === null ? "" : `(job ${JSON.stringify(job)})`].filter((part) => part !== "").join(" ");
  return `${at.file}:${at.line}:${at.column}: ${subject === "" ? "" : `${subject}: `}${problem}`;
}

/** All problems, one a line; the blocks of different files are set apart by a line `---`. */
export function problemsText(problems: readonly ConfigProblem[]): string {
  const byFile = new Map<string, string[]>();
  for (const problem of problems) {
    const lines = byFile.get(problem.at.file) ?? [];
    byFile.set(problem.at.file, lines);
    lines.push(problemText(problem));
  }
  return [...byFile.values()].map((lines) => lines.join("\n")).join("\n---\n");
}

/** What a load has found so far. It keeps a bounded number of problems and warnings, and says how many more there were. */
export class Findings {
  readonly #problems: ConfigProblem[] = [];
  readonly #warnings: ConfigWarning[] = [];
  #omitted = 0;
  #omittedWarnings = 0;

  problem(problem: ConfigProblem): void {
    if (this.#problems.length < problemsMax) this.#problems.push(problem);
    else this.#omitted++;
  }

  warning(message: string): void {
    this.#tell({ level: "warning", message });
  }

  info(message: string): void {
    this.#tell({ level: "info", message });
  }

  #tell(warning: ConfigWarning): void {
    if (this.#warnings.length < warningsMax) this.#warnings.push(warning);
    else this.#omittedWarnings++;
  }

  warnings(): readonly ConfigWarning[] {
    if (this.#omittedWarnings === 0) return this.#warnings;
    const message = `and ${this.#omittedWarnings} more findings about this configuration that are not listed`;
    return [...this.#warnings, { level: "warning", message }];
  }

  get failed(): boolean {
    return this.#problems.length > 0;
  }

  /** File by file in the order they were read, each file's in the order of its text. */
  problems(): readonly ConfigProblem[] {
    const files = new Map<string, number>();
    for (const { at } of this.#problems) if (!files.has(at.file)) files.set(at.file, files.size);
    const rank = ({ at }: ConfigProblem): number => files.get(at.file) ?? 0;
    const inOrder = this.#problems.toSorted(
      (a, b) => rank(a) - rank(b) || a.at.line - b.at.line || a.at.column - b.at.column,
    );
    const last = inOrder.at(-1);
    if (this.#omitted > 0 && last !== undefined)
      inOrder.push({ ...last, path: "", job: null, problem: `and ${this.#omitted} more problems that are not listed` });
    return inOrder;
  }
}

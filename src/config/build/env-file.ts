/** `env_file` (config 8). */

import { quoted } from "../../schedule/schedule-error.ts";
import type { FileSource } from "../files.ts";
import type { Findings, Step } from "../problem.ts";
import type { Subject } from "../subject.ts";
import { decodeUtf8 } from "../text.ts";

export type Variable = readonly [name: string, value: string];

/** Reads each file once per load. */
export class EnvFiles {
  readonly #files: FileSource;
  readonly #findings: Findings;
  readonly #known = new Map<string, readonly Variable[] | null>();

  constructor(files: FileSource, findings: Findings) {
    this.#files = files;
    this.#findings = findings;
  }

  /** The file's variables, a repeated name with its last value; null, and a problem the first time, when it cannot be used. */
  read(path: string, subject: Subject, at: readonly Step[]): readonly Variable[] | null {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const variables = this.#load(path, subject, at);
    this.#known.set(path, variables);
    return variables;
  }

  #load(path: string, subject: Subject, at: readonly Step[]): readonly Variable[] | null {
    const content = this.#files.read(path);
    const decoded = content.kind === "bytes" ? decodeUtf8(content.bytes) : null;
    if (decoded?.kind !== "text") {
      const reason = content.kind === "bytes" ? "not valid UTF-8 text" : content.reason;
      subject.problem(at, `Could not load env_file: ${path}: ${reason}`);
      return null;
    }
    const variables = new Map<string, string>();
    let whole = true;
    for (const [index, line] of decoded.text.split("\n").entries()) {
      const read = readLine(line);
      if (read === null) continue;
      if (read === "invalid") {
        whole = false;
        this.#findings.problem({
          at: { file: path, line: index + 1, column: 1 },
          path: subject.pathOf(at),
          job: subject.job,
          problem: `Invalid line in env_file: ${quoted(withoutReturn(line).trim())}`,
        });
      } else {
        const [name, value] = read;
        if (/\s/.test(name))
          this.#findings.warning(
            `${path}:${index + 1}: the variable is named ${quoted(name)}, blanks included; write NAME=value, without export`,
          );
        variables.set(name, value);
      }
    }
    return whole ? [...variables] : null;
  }
}

/** One line of the file; null for a blank one or a comment. Only spaces are stripped: quotes, tabs, `export` are kept. */
function readLine(line: string): Variable | "invalid" | null {
  const content = stripped(withoutReturn(line));
  if (content === "" || content.startsWith("#")) return null;
  const equals = content.indexOf("=");
  const name = stripped(content.slice(0, Math.max(0, equals)));
  return equals === -1 || name === "" ? "invalid" : [name, stripped(content.slice(equals + 1))];
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function stripped(text: string): string {
  return text.replace(/^ +| +$/g, "");
}

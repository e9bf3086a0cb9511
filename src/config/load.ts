/**
 * Reads a configuration: one file with what it includes, or a directory of files. What is wrong with any of it is collected and told
 * together, with its place; nothing that a file can hold makes it throw.
 */
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { BuildContext } from "./build/context.ts";
import { crontabJobs } from "./build/crontab.ts";
import { EnvFiles } from "./build/env-file.ts";
import { Timings } from "./build/timing.ts";
import { wholeOf } from "./checks/whole.ts";
import { byCodePoint } from "./code-points.ts";
import { kindByName, looksLikeCrontab } from "./crontab.ts";
import type { LoadFacts } from "./facts.ts";
import { emptyPart, type FilePart } from "./file-part.ts";
import { FilesRead } from "./files.ts";
import { includeDepthMax } from "./limits.ts";
import type { Config } from "./model.ts";
import { type ConfigProblem, Findings } from "./problem.ts";
import { type ConfigReader, diskReader } from "./reader.ts";
import type { Subject } from "./subject.ts";
import { decodeUtf8, decodeYaml } from "./text.ts";
import { Lines } from "./yaml/lines.ts";
import { readYaml } from "./yaml/source.ts";
import { type LoadInclude, yamlFilePart } from "./yaml-file.ts";

export type LoadResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/**
 * Loads the configuration at `path`. Synchronous: a large one takes seconds, so a running daemon does this in a worker.
 *
 * @param path a file, or a directory whose YAML and crontab files together are the configuration
 */
export function loadConfig(path: string, facts: LoadFacts, reader: ConfigReader = diskReader): LoadResult {
  const findings = new Findings();
  const files = new FilesRead(reader);
  const context: BuildContext = {
    facts,
    findings,
    timings: new Timings(facts, findings),
    envFiles: new EnvFiles(files, findings),
    readSecret: (secret) => secretIn(secret, reader),
  };
  const looked = reader.look(path);
  const directory = looked.kind === "directory" ? { path: resolve(path), stamp: looked.stamp } : null;
  const parts =
    directory === null ? [loadRoot(path, "accepted", context, files)] : loadDirectory(path, context, files, reader);
  const config = wholeOf(parts, facts, findings);
  if (findings.failed) return { ok: false, problems: findings.problems() };
  const signature = files.signature(directory);
  return {
    ok: true,
    config: {
      ...config,
      warnings: findings.warnings(),
      files: files.paths,
      directory: directory?.path ?? null,
      signature,
    },
  };
}

/** Every file of the directory that is a configuration by its name, in the order of their names (1.3). */
function loadDirectory(
  directory: string,
  context: BuildContext,
  files: FilesRead,
  reader: ConfigReader,
): readonly FilePart[] {
  const listed = reader.names(directory);
  if (listed.kind === "unreadable") {
    wholeFileProblem(directory, listed.reason, context.findings);
    return [];
  }
  const names = listed.names.filter((name) => !/^[_.]/.test(name) && kindByName(name) !== null).sort(byCodePoint);
  return names.map((name) => loadRoot(join(directory, name), "refused", context, files));
}

/** The files on the way to one, and those its root has reached so far: a diamond counts a file once, a cycle is refused (1.4). */
interface Way {
  readonly above: readonly string[];
  readonly reached: Map<string, FilePart>;
}

function loadRoot(path: string, pipes: "accepted" | "refused", context: BuildContext, files: FilesRead): FilePart {
  const content = files.read(path, pipes);
  if (content.kind === "bytes")
    return loadBytes(path, content.bytes, { above: [], reached: new Map() }, context, files);
  wholeFileProblem(path, content.reason, context.findings);
  return emptyPart;
}

function loadInclude(
  path: string,
  target: string,
  subject: Subject,
  way: Way,
  context: BuildContext,
  files: FilesRead,
): FilePart {
  const absolute = resolve(path);
  const reached = way.reached.get(absolute);
  if (reached !== undefined) return { ...emptyPart, defaults: reached.defaults };
  const refuse = (problem: string): FilePart => {
    subject.problem([], problem);
    return emptyPart;
  };
  if (way.above.includes(absolute)) return refuse(`include cycle detected at ${target}`);
  if (way.above.length > includeDepthMax) return refuse(`included more than ${includeDepthMax} levels deep`);
  const content = files.read(path);
  if (content.kind === "unreadable") return refuse(`include ${target}: ${content.reason}`);
  return loadBytes(path, content.bytes, way, context, files);
}

function loadBytes(path: string, bytes: Uint8Array, way: Way, context: BuildContext, files: FilesRead): FilePart {
  const absolute = resolve(path);
  const below: Way = { ...way, above: [...way.above, absolute] };
  const part = partOf(path, bytes, context, (target, subject) => {
    const included = isAbsolute(target) ? target : join(dirname(path), target);
    return loadInclude(included, target, subject, below, context, files);
  });
  way.reached.set(absolute, part);
  return part;
}

function partOf(path: string, bytes: Uint8Array, context: BuildContext, include: LoadInclude): FilePart {
  const { findings } = context;
  const kind = kindByName(path);
  const decoded = kind === "yaml" ? decodeYaml(bytes) : decodeUtf8(bytes);
  const isCrontab = kind === "crontab" || (kind === null && decoded.kind === "text" && looksLikeCrontab(decoded.text));
  const readable = kind === null && !isCrontab && decoded.kind === "text" ? decodeYaml(bytes) : decoded;
  if (readable.kind === "damaged") {
    const at = new Lines(path, readable.before).place(readable.before.length);
    findings.problem({ at, path: "", job: null, problem: readable.problem });
    return emptyPart;
  }
  if (isCrontab) {
    const jobs = crontabJobs(path, readable.text, context);
    return { ...emptyPart, jobs: jobs.map((config) => ({ config, index: null })) };
  }
  const yaml = readYaml(path, readable.text, (at, problem) => findings.problem({ at, path: "", job: null, problem }));
  return yaml === null ? emptyPart : yamlFilePart(yaml, context, include);
}

function wholeFileProblem(file: string, problem: string, findings: Findings): void {
  findings.problem({ at: { file, line: 1, column: 1 }, path: "", job: null, problem });
}

function secretIn(path: string, reader: ConfigReader): string | null {
  const looked = reader.look(path);
  const content = looked.kind === "file" ? reader.read(path) : null;
  const decoded = content?.kind === "bytes" ? decodeUtf8(content.bytes) : null;
  return decoded?.kind === "text" ? decoded.text : null;
}

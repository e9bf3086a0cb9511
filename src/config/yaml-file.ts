/** One YAML file: its own sections, jobs and DAGs, over what its includes gave (config 1.4, 4, 7.10). */
import { quoted } from "../schedule/schedule-error.ts";
import { clusterConfig } from "./build/cluster.ts";
import type { BuildContext } from "./build/context.ts";
import { buildDag, taskBases } from "./build/dag.ts";
import { buildJob, builtInFor, jobBase } from "./build/job.ts";
import { notifyConfig, pushConfig } from "./build/notices.ts";
import { stateConfig } from "./build/state.ts";
import { mcpConfig, webConfig } from "./build/web.ts";
import { expandValue, type Untouched, untouchedInDag, untouchedInFile, untouchedInJob } from "./expand.ts";
import type {
  DagEntry,
  FilePart,
  JobEntry,
  PoolEntry,
  SectionEntries,
  SectionEntry,
  SectionTypes,
} from "./file-part.ts";
import { unexpectedKey } from "./issues.ts";
import { foldDefaults, mergeOver } from "./merge.ts";
import { writtenDag } from "./options/dag.ts";
import { type FrameKey, type FrameValue, frameTypes, type UniqueSection, uniqueSections } from "./options/file.ts";
import { type JobDefaults, type WrittenDefaults, writtenJob } from "./options/job.ts";
import type { Step } from "./problem.ts";
import { readTyped, type Subject, subjectOf } from "./subject.ts";
import type { Raw, RawMap } from "./yaml/raw.ts";
import type { YamlFile } from "./yaml/source.ts";

/** Loads the target of an include as it stands in the file; what is wrong with that becomes a problem of `subject`. */
export type LoadInclude = (target: string, subject: Subject) => FilePart;

/** What a file gives; what is wrong in it has become problems. */
export function yamlFilePart(yaml: YamlFile, context: BuildContext, loadInclude: LoadInclude): FilePart {
  const subject = subjectOf(yaml.frame, [], null, context.findings);
  const read = frameReader(yaml.frame.value, context, subject);
  for (const key of Object.keys(yaml.frame.value))
    if (!Object.hasOwn(frameTypes, key)) subject.problem([key], unexpectedKey(key, Object.keys(frameTypes)), "key");

  const own = readSections(read, context, subject);
  const included = (read("include") ?? []).map((target, index) =>
    loadInclude(target, subject.inside(["include", index])),
  );
  const below = included.reduce<WrittenDefaults>((all, part) => foldDefaults(all, part.defaults), {});
  const written = read("defaults");
  const defaults = foldDefaults(below, written ?? {});
  // With refused defaults the jobs are still read, but not built: what they would be is not known.
  const options = written === null ? null : mergeOver(builtInFor(context.facts.platform), defaults);
  const inner = subject.inside(["defaults"]);
  read("jobs");
  return {
    jobs: [...included.flatMap(({ jobs }) => jobs), ...readJobs(yaml, options, context, inner)],
    dags: [...included.flatMap(({ dags }) => dags), ...readDags(read("dags") ?? [], options, context, subject)],
    pools: [...included.flatMap(({ pools }) => pools), ...readPools(read("pools") ?? {}, subject)],
    sections: adopted(own, included),
    defaults,
  };
}

/** Reads a key by its type: null where it was refused, undefined where it is absent. */
type ReadKey = <Key extends FrameKey>(key: Key) => FrameValue<Key> | null | undefined;

/** Each key is read, and its problems told, once. */
function frameReader(frame: RawMap, context: BuildContext, subject: Subject): ReadKey {
  const known = new Map<FrameKey, unknown>();
  return <Key extends FrameKey>(key: Key) => {
    const raw = frame[key];
    if (raw === undefined) return undefined;
    if (!known.has(key)) {
      const typed = readTyped<unknown>(frameTypes[key], raw, subject.inside([key]));
      known.set(key, typed === null ? null : expanded(typed, untouchedInFile[key], context, subject, [key]));
    }
    return known.get(key) as FrameValue<Key> | null; // what the key's own type gave
  };
}

/** Null when a variable is not set, which is a problem then. */
function expanded<T>(
  value: T,
  untouched: Untouched | undefined,
  { facts }: BuildContext,
  subject: Subject,
  at: readonly Step[],
): T | null {
  let complete = true;
  const result = expandValue(value, untouched, facts.environment, (path, name) => {
    complete = false;
    const whole = [...at, ...path];
    subject.problem(whole, unsetVariable(subject.pathOf(whole), name));
  });
  return complete ? result : null;
}

function unsetVariable(path: string, name: string): string {
  return (
    `config value ${path} references environment variable \${${name}}, which is not set; ` +
    `export it, or write \${${name}:-default} to supply a fallback`
  );
}

function readSections(read: ReadKey, context: BuildContext, file: Subject): SectionEntries {
  const { facts, findings } = context;
  const entries: SectionEntries = {};
  const section = <Section extends UniqueSection>(
    key: Section,
    build: (options: NonNullable<FrameValue<Section>>, subject: Subject) => SectionTypes[Section] | null,
  ): void => {
    const options = read(key);
    if (options === undefined) return;
    const subject = file.inside([key]);
    const config = options === null ? null : build(options as NonNullable<FrameValue<Section>>, subject);
    entries[key] = { config, subject } as SectionEntries[Section];
  };
  section("web", (options, subject) => webConfig(options, findings, subject));
  section("cluster", (options, subject) => clusterConfig(options, facts, context.readSecret, subject));
  section("state", (options, subject) => stateConfig(options, facts, findings, subject));
  section("mcp", (options) => mcpConfig(options, findings));
  section("notify", (options, subject) => notifyConfig(options, subject));
  section("push", (options, subject) => pushConfig(options, subject));
  section("logging", (options) => options);
  return entries;
}

/** The file's own sections and those of its includes; a section may stand in one of them only. */
function adopted(own: SectionEntries, included: readonly FilePart[]): SectionEntries {
  const sections: Record<string, SectionEntry<unknown>> = { ...own };
  for (const part of included)
    for (const key of uniqueSections) {
      const entry = part.sections[key];
      if (entry === undefined) continue;
      if (sections[key] === undefined) sections[key] = entry;
      else entry.subject.problem([], `multiple ${key} configs`);
    }
  return sections as SectionEntries;
}

/** @param defaults null when they were refused */
function* readJobs(
  yaml: YamlFile,
  defaults: JobDefaults | null,
  context: BuildContext,
  defaultsSubject: Subject,
): Generator<JobEntry> {
  const base = defaults === null ? null : jobBase(defaults, context, defaultsSubject);
  let index = 0;
  for (const fragment of yaml.jobs()) {
    const subject = subjectOf(fragment, ["jobs", index], textIn(fragment.value, "name"), context.findings);
    const written = readTyped(writtenJob, fragment.value, subject);
    if (written === null) checkTiming(fragment.value, context, subject);
    const complete = written === null ? null : expanded(written, untouchedInJob, context, subject, []);
    const config = complete === null || base === null ? null : buildJob(complete, base, context, subject);
    if (config !== null) yield { config, index };
    index++;
  }
}

/** A job that cannot be read may have a schedule that can: what is wrong with it is told in the same go. */
function checkTiming(job: Raw, { timings }: BuildContext, subject: Subject): void {
  const [name, schedule, timezone] = ["name", "schedule", "timezone"].map((key) => textIn(job, key));
  if (typeof name !== "string" || typeof schedule !== "string" || `${schedule}${timezone}`.includes("$")) return;
  timings.read(name, schedule, { utc: true, timezone: timezone ?? undefined }, subject);
}

function textIn(value: Raw, key: string): string | null {
  const name = typeof value === "object" && !Array.isArray(value) ? (value as RawMap)[key] : undefined;
  return typeof name === "string" ? name : null;
}

function readDags(
  dags: readonly unknown[],
  defaults: JobDefaults | null,
  context: BuildContext,
  file: Subject,
): readonly DagEntry[] {
  if (dags.length === 0) return [];
  const bases = defaults === null ? null : taskBases(defaults, context, file.inside(["defaults"]));
  return dags.flatMap((value, index) => {
    const raw = value as Raw; // `dags` was read as a list of anything
    const subject = file.inside(["dags", index]);
    const written = readTyped(writtenDag, raw, subject, (problem, path, range) =>
      range ? `${under(raw, path)}${problem}` : problem,
    );
    const complete = written === null ? null : expanded(written, untouchedInDag, context, subject, []);
    const config = complete === null || bases === null ? null : buildDag(complete, bases, context, subject);
    return config === null ? [] : [{ config, subject }];
  });
}

/** `dag 'd': task 't': `, as far as the path goes into one and they have names. */
function under(dag: Raw, path: readonly Step[]): string {
  const name = textIn(dag, "name");
  const tasks = (dag as RawMap).tasks;
  const task = path[0] === "tasks" && Array.isArray(tasks) ? (tasks[Number(path[1])] as Raw | undefined) : undefined;
  const id = task === undefined ? null : textIn(task, "id");
  return `dag ${quoted(name ?? "")}: ${id === null ? "" : `task ${quoted(id)}: `}`;
}

function readPools(pools: NonNullable<FrameValue<"pools">>, file: Subject): readonly PoolEntry[] {
  return Object.entries(pools).flatMap(([name, { slots, maxQueued }]) => {
    const subject = file.inside(["pools", name]);
    if (name !== "" && !/\p{Cc}/u.test(name)) return [{ config: { name, slots, maxQueued }, subject }];
    subject.problem([], "pool names must be non-empty and printable", "key");
    return [];
  });
}

/** The parts of a configuration put together, and what holds only between them (config 7.10). */
import type { LoadFacts } from "../facts.ts";
import type { FilePart, SectionEntries, SectionEntry } from "../file-part.ts";
import type { Config } from "../model.ts";
import { type UniqueSection, uniqueSections } from "../options/file.ts";
import type { Findings } from "../problem.ts";
import { checkNames } from "./names.ts";
import { checkPools } from "./pools.ts";
import { checkReporters } from "./reporters.ts";
import { checkSections } from "./sections.ts";
import { checkStore } from "./store.ts";

/** All files' parts together, before it is known how they fit. */
export type Whole = Pick<FilePart, "jobs" | "dags" | "pools" | "sections">;

type WholeConfig = Omit<Config, "warnings" | "files" | "directory" | "signature">;

/** What a set of files amounts to. It is of use only when nothing was found wrong. */
export function wholeOf(parts: readonly FilePart[], facts: LoadFacts, findings: Findings): WholeConfig {
  const whole: Whole = {
    jobs: parts.flatMap(({ jobs }) => jobs),
    dags: parts.flatMap(({ dags }) => dags),
    pools: parts.flatMap(({ pools }) => pools),
    sections: onlySections(parts),
  };
  checkNames(whole, findings);
  // With something refused, what refers to it would be called wrong too.
  if (!findings.failed) {
    checkPools(whole, findings);
    checkStore(whole, findings);
    checkSections(whole);
    checkReporters(whole, facts, findings);
  }
  const section = <Section extends UniqueSection>(key: Section) => whole.sections[key]?.config ?? null;
  return {
    jobs: whole.jobs.map(({ config }) => config),
    dags: whole.dags.map(({ config }) => config),
    pools: new Map(whole.pools.map(({ config }) => [config.name, config])),
    web: section("web"),
    mcp: section("mcp"),
    state: section("state"),
    cluster: section("cluster"),
    notify: section("notify"),
    push: section("push"),
    logging: section("logging"),
  };
}

/** A section may stand in one file of a directory only (1.3). */
function onlySections(parts: readonly FilePart[]): SectionEntries {
  const sections: Record<string, SectionEntry<unknown>> = {};
  for (const part of parts)
    for (const key of uniqueSections) {
      const entry = part.sections[key];
      if (entry === undefined) continue;
      const first = sections[key];
      if (first === undefined) sections[key] = entry;
      else {
        const files = `first in ${first.subject.place([]).file}, now in ${entry.subject.place([]).file}`;
        entry.subject.problem([], `Multiple '${key}' configurations found: ${files}`);
      }
    }
  return sections as SectionEntries;
}

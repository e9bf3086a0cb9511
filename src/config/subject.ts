import type { z } from "zod";
import { refusals } from "./issues.ts";
import type { Place } from "./model.ts";
import type { Findings, Step } from "./problem.ts";
import { pathText } from "./problem.ts";
import type { Raw } from "./yaml/raw.ts";
import type { Fragment } from "./yaml/source.ts";

/** One thing of a file that problems can be about: a job, a section, a task. */
export interface Subject {
  readonly job: string | null;
  /** Reports what is wrong with the value at `path` inside, or with its key. */
  problem(path: readonly Step[], problem: string, target?: "key" | "value"): void;
  /** The path of the value at `path` inside, from the root of its file. */
  pathOf(path: readonly Step[]): string;
  /** Where the value at `path` inside stands. */
  place(path: readonly Step[]): Place;
  /** Something inside, with a job's name of its own if given. */
  inside(path: readonly Step[], job?: string | null): Subject;
}

/** @param prefix where in its file the fragment stands */
export function subjectOf(
  fragment: Pick<Fragment, "place">,
  prefix: readonly Step[],
  job: string | null,
  findings: Findings,
): Subject {
  return {
    job,
    problem(path, problem, target = "value") {
      findings.problem({ at: fragment.place(path, target), path: pathText([...prefix, ...path]), job, problem });
    },
    pathOf: (path) => pathText([...prefix, ...path]),
    place: (path) => fragment.place(path, "value"),
    inside(path, innerJob = job) {
      const inner = {
        place: (more: readonly Step[], target: "key" | "value") => fragment.place([...path, ...more], target),
      };
      return subjectOf(inner, [...prefix, ...path], innerJob, findings);
    },
  };
}

/**
 * Reads a value by its schema; null, and problems of `subject`, when it does not fit.
 *
 * @param worded may give a problem other words, from where it is and whether its value is only out of range
 */
export function readTyped<T>(
  type: z.ZodType<T>,
  value: Raw,
  subject: Subject,
  worded: (problem: string, path: readonly Step[], range: boolean) => string = (problem) => problem,
): T | null {
  const result = type.safeParse(value);
  if (result.success) return result.data;
  for (const { path, target, problem, range } of refusals(result.error.issues, value, type))
    subject.problem(path, worded(problem, path, range), target);
  return null;
}

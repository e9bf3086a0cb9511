/** What needs the `state` section (config 6.3, 6.4, 7.4). */
import type { JobEntry } from "../file-part.ts";
import type { Findings } from "../problem.ts";
import { jobProblem, nameList } from "./entries.ts";
import type { Whole } from "./whole.ts";

export function checkStore({ jobs, dags, sections }: Whole, findings: Findings): void {
  const state = sections.state?.config ?? null;
  const jobApi = state?.jobApi.enabled ?? false;
  const scoped = jobs.filter(({ config }) => config.concurrencyScope === "cluster");
  const secretive = jobs.filter(({ config }) => config.launch.secrets.length > 0);
  const refuse = (entries: readonly JobEntry[], key: string, problem: string): void => {
    const [first] = entries;
    const names = nameList(entries.map(({ config }) => config.name));
    if (first !== undefined) jobProblem(first, key, `${problem}; offending job(s): ${names}`, findings);
  };
  if (state === null) {
    refuse(
      scoped,
      "concurrencyScope",
      "concurrencyScope: cluster requires a `state` section (the shared store is what coordinates the nodes), but none is configured",
    );
    const [firstSecretive] = secretive;
    if (firstSecretive !== undefined)
      jobProblem(
        firstSecretive,
        "secrets",
        "job `secrets` are staged over the state loopback endpoint, which requires a `state` section; none is configured, " +
          `offending job(s): ${nameList(secretive.map(({ config }) => config.name))}`,
        findings,
      );
    tellInert(jobs, findings);
  } else if (!jobApi)
    refuse(secretive, "secrets", "job `secrets` need the state loopback endpoint, but state.jobApi.enabled is false");
  const [firstDag] = dags;
  if (firstDag === undefined || jobApi) return;
  const names = nameList(dags.map(({ config }) => config.name));
  firstDag.subject.problem(
    [],
    state === null
      ? "dags require a `state` section (each dag_run and its per-task state live on the durable store); none is configured, " +
          `offending dag(s): ${names}`
      : `dags need the state loopback endpoint for XCom and task state, but state.jobApi.enabled is false; offending dag(s): ${names}`,
  );
}

/** Options that are legal without a store, and do nothing. */
function tellInert(jobs: readonly JobEntry[], findings: Findings): void {
  const missed = jobs.filter(({ config }) => config.onMissed !== "skip").length;
  const archived = jobs.filter(({ config }) => config.archiveOutput).length;
  if (missed > 0)
    findings.warning(
      `onMissed catch-up is set on ${missed} job(s) but needs a \`state\` backend for the last-run watermark; skipping`,
    );
  if (archived > 0)
    findings.warning(`archiveOutput is set on ${archived} job(s) but archives nothing without a \`state\` backend`);
}

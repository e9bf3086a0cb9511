/** A whole configuration file (config 5). */
import { z } from "zod";
import { cluster } from "./cluster.ts";
import { listOf, mapOf, orAbsent, tableOf, within } from "./collections.ts";
import { dag } from "./dag.ts";
import { defaults, job, writtenDefaults } from "./job.ts";
import { eventReport } from "./report.ts";
import { blankAs, bool, float, integer, oneOf, text, textOrNone } from "./scalars.ts";
import { pools, state } from "./state.ts";
import { mcp, noMcp, web } from "./web.ts";

const notify = mapOf({
  events: listOf(oneOf("dag_failure", "approval_waiting", "leader_change", "quorum_loss"))
    .default([])
    .describe("Events that are told; empty is all."),
  report: orAbsent(eventReport).describe("Who is told."),
});

const push = mapOf({
  relay: mapOf({
    url: text.describe("Address of the relay, http or https."),
    timeout: within(float, (seconds) => seconds > 0, "push.relay.timeout must be > 0 seconds")
      .default(10)
      .describe("Seconds for one delivery."),
  }).describe("The relay that reaches the devices."),
  devicesFile: textOrNone.default(null).describe("File of paired devices; needed without `state`."),
  allowUnauthenticated: bool.default(false).describe("Allow pairing without a token on an address others can reach."),
});

/** Text, lists and mappings as they stand. */
const anything = z.unknown();
const table = tableOf(anything);

const logging = mapOf({
  version: integer.describe("Always 1."),
  incremental: bool.optional().describe("Accepted for compatibility."),
  disable_existing_loggers: bool.optional().describe("Accepted for compatibility."),
  formatters: table.optional().describe("How lines look, by name."),
  filters: table.optional().describe("Accepted for compatibility."),
  handlers: table.optional().describe("Where lines go, by name."),
  loggers: table.optional().describe("Level and handlers of single loggers."),
  root: table.optional().describe("Level and handlers of all others."),
});

const sections = {
  pools: pools.describe("Shared limits on how many runs there are at a time. Needs `state`."),
  include: listOf(text).describe(
    "Files whose jobs, DAGs and sections belong to this configuration; relative to this file.",
  ),
  web: web.describe("HTTP API and dashboard."),
  mcp: mcp.or(blankAs(noMcp)).describe("Model Context Protocol. Needs `web`."),
  state: state.describe("Durable store."),
  cluster: cluster.describe("Several nodes with one configuration."),
  notify: notify.describe("Events of the daemon and of workflows."),
  push: push.describe("Notifications on paired devices."),
  logging: logging.describe("Log output, in the shape of Python's dictConfig."),
};

/** Describes a file to editors and in the manual. No key is required. */
export const file = mapOf({
  defaults: defaults.describe("What the jobs and DAG tasks of this file have in common."),
  jobs: listOf(job).describe("The jobs."),
  dags: listOf(dag).describe("The workflows. Need `state`."),
  ...sections,
}).partial();

/** What the keys of a file are read by, one at a time; the items of `jobs` and `dags` are read by themselves. */
export const frameTypes = { ...sections, defaults: writtenDefaults, jobs: listOf(anything), dags: listOf(anything) };

export type FrameKey = keyof typeof frameTypes;
export type FrameValue<Key extends FrameKey> = z.output<(typeof frameTypes)[Key]>;

/** At most one file of a configuration may carry each of these. */
export const uniqueSections = ["web", "cluster", "state", "mcp", "logging", "notify", "push"] as const;
export type UniqueSection = (typeof uniqueSections)[number];

export type NotifyOptions = z.output<typeof notify>;
export type PushOptions = z.output<typeof push>;

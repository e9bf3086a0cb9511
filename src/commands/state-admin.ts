import { hostname } from "node:os";
import type { Command } from "commander";
import type { Config, StateConfig } from "../config/model.ts";
import { problemsText } from "../config/problem.ts";
import { loadWithTemplates } from "../daemon/load.ts";
import { systemClock } from "../platform/clock.ts";
import { exitNow } from "../platform/exit-now.ts";
import { backUp } from "../store/admin/backup.ts";
import { collectGarbage } from "../store/admin/collect-garbage.ts";
import { migrate } from "../store/admin/migrate.ts";
import { migrateSchema } from "../store/admin/migrate-schema.ts";
import { storeReport } from "../store/admin/report.ts";
import { restore } from "../store/admin/restore.ts";
import { openFilesystemStore } from "../store/filesystem/open.ts";
import { storeLayout } from "../store/filesystem/volume.ts";
import type { Outcome, Store } from "../store/store.ts";
import type { CommandContext } from "./command-line.ts";
import { Refusal } from "./errors.ts";
import { DEFAULT_CONFIG } from "./root.ts";

/** How long a store may take to let go when a command is done with it. */
const CLOSE_PATIENCE_MS = 10_000;

/** `cronstable state backup|restore|migrate|gc|check|migrate-schema`: the store in the administrator's hands (config 12.3). */
export function registerStateAdmin(state: Command, context: CommandContext): void {
  const action = (name: string, description: string): Command =>
    state
      .command(name)
      .description(description)
      .option("-c, --config <file-or-dir>", "configuration whose `state` section names the store");
  const configured = (command: Command): Configured =>
    configuredStore(command.opts<{ config?: string }>().config ?? context.root().config ?? DEFAULT_CONFIG);

  action("backup", "archive the store, also while a daemon uses it")
    .requiredOption("-o, --output <file.tar.gz>", "the archive to write")
    .action(async ({ output }: { output: string }, command: Command) => {
      const { base } = configured(command);
      const done = await failing(() => backUp(base, output));
      if (done.kind === "no store") {
        said(`state: nothing to back up: ${base} does not exist`);
        context.finish(1);
      } else said(`state: backed up ${done.files} file(s) from ${base} to ${output}`);
    });

  action("restore", "put an archive's files into a store that no daemon uses")
    .argument("<file.tar.gz>", "what backup wrote")
    .option("--force", "merge into a store that is not empty")
    .action(async (archive: string, { force = false }: { force?: boolean }, command: Command) => {
      const { base } = configured(command);
      const done = await failing(() => restore(archive, base, force));
      if (done.kind === "populated") {
        throw new StateError(
          `the store at ${base} is not empty; stop its daemons and give --force to merge the archive into it`,
        );
      }
      said(`state: restored ${done.files} file(s) from ${archive} into ${base}`);
      if (done.keptLeases > 0) said(`state: kept ${done.keptLeases} lease(s) that are newer than the archive's`);
    });

  action("migrate", "copy a store that no daemon uses to another place")
    .requiredOption("--dest <path>", "directory of the new store")
    .option("--dest-deployment-id <id>", "its deploymentId (default: the same)")
    .option("--force", "merge into a store that is not empty")
    .action(async (options: { dest: string; destDeploymentId?: string; force?: boolean }, command: Command) => {
      const { base, section } = configured(command);
      const destination = storeLayout(options.dest, options.destDeploymentId ?? section.deploymentId).base;
      const done = await failing(() => migrate(base, destination, options.force ?? false));
      switch (done.kind) {
        case "no store":
          throw new StateError(`there is no store at ${base}`);
        case "nested":
          throw new StateError("state: destination must be a store outside the source");
        case "populated":
          throw new StateError(`the store at ${destination} is not empty; give --force to merge into it`);
        case "done":
          said(`state: migrated ${done.files} file(s) from ${base} to ${destination}`);
          said(`state: to cut over, set state.path to ${options.dest} in the configuration and start the daemons`);
      }
    });

  action("gc", "delete what no recent configuration uses any more")
    .option("--dry-run", "only say what would go")
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const { config, section } = configured(command);
      if (section.gcGraceSeconds <= 0)
        throw new StateError("garbage collection is disabled: state.gcGraceSeconds is not positive");
      await withStore(section, async (store) => {
        const done = await collectGarbage(store, {
          own: usesOf(config),
          graceSeconds: section.gcGraceSeconds,
          nowSeconds: systemClock.wallNow() / 1000,
          dryRun,
          removeRunDocuments: false,
        });
        if (done.kind === "deferred") {
          said(
            "state: gc deferred: the manifest history does not yet span gcGraceSeconds, so the store cannot prove what is orphaned",
          );
          return;
        }
        if (done.kind === "given up") throw new StateError(`gc gave up, nothing more was deleted: ${done.because}`);
        const { removed } = done;
        const verb = dryRun ? "would remove" : "removed";
        said(
          `state: gc ${verb} ${removed.streams.length} stream(s) (${removed.records} record(s)), ${removed.temporaries} temp file(s), ${removed.quarantined} quarantined record(s); kept ${removed.keptStreams} stream(s)`,
        );
        said(
          removed.blobs.kind === "swept"
            ? `state: gc ${verb} ${removed.blobs.blobs} blob(s)`
            : `state: gc left the blobs alone: ${removed.blobs.because}`,
        );
        for (const stream of removed.streams) said(`  - ${stream}`);
      });
    });

  action("check", "open the store, write a probe, and count what is in it").action(
    async (_options: unknown, command: Command) => {
      const { base, section } = configured(command);
      await withStore(section, async (store) => {
        const report = storeReport(store.facts, done(await store.upkeep.inventory()));
        said(`state: store at ${base} is writable`);
        said(`  backend: ${report.backend}`);
        said(`  namespace: ${report.namespace}`);
        said(`  topology: ${report.topology}`);
        said(`  shared_locking: ${report.sharedLocking ? "True" : "False"}`);
        said(`  streams: ${report.streams} (${report.records} record(s))`);
        for (const { prefix, records } of report.recordsByPrefix) said(`    ${prefix}: ${records} record(s)`);
        said(`  quarantined: ${report.quarantined} record(s)`);
      });
    },
  );

  action("migrate-schema", "bring records to the scheme this build writes")
    .option("--dry-run", "only say what would change")
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const { base } = configured(command);
      const { converted, current, unknown, unreadable, failed } = await failing(async () => migrateSchema(base));
      said(
        `state: migrate-schema ${dryRun ? "would convert" : "converted"} ${converted} record(s); ${current} current, ${unknown} unknown, ${unreadable} unreadable, ${failed} failed`,
      );
    });
}

/** Trouble of these commands has a prefix of its own (config 12.3). */
class StateError extends Refusal {
  constructor(detail: string) {
    super(detail, "cronstable state error");
  }
}

interface Configured {
  readonly config: Config;
  readonly section: StateConfig;
  /** The store's own directory: path and namespace. */
  readonly base: string;
}

function configuredStore(path: string): Configured {
  const loaded = loadWithTemplates(path);
  if (!loaded.ok) throw new StateError(problemsText(loaded.problems));
  const { config } = loaded;
  if (config.state === null) {
    throw new StateError("the configuration has no `state:` section; add one with the `path` of the store");
  }
  return { config, section: config.state, base: storeLayout(config.state.path, config.state.deploymentId).base };
}

function usesOf({ jobs, dags }: Config) {
  const tasks = dags.flatMap((dag) => dag.tasks.flatMap(({ job }) => (job === null ? [] : [job])));
  const scopes = [...jobs, ...tasks].flatMap(({ launch }) => launch.stateAllowedScopes);
  return {
    host: hostname(),
    jobs: jobs.map(({ name }) => name),
    scopes: [...new Set(["global", ...scopes])],
    dags: dags.map(({ name }) => name),
  };
}

async function withStore(section: StateConfig, use: (store: Store) => Promise<void>): Promise<void> {
  const { path, deploymentId, topology, maxOpsPerSecond } = section;
  const log = { info: () => {}, warning: (message: string) => process.stderr.write(`${message}\n`) };
  const store = done(
    await openFilesystemStore({ path, deploymentId, topology, maxOpsPerSecond, clock: systemClock, log }),
  );
  try {
    await use(store);
  } finally {
    const { threads } = await store.close(CLOSE_PATIENCE_MS);
    if (threads === "hung") exitNow(1); // in a system call that does not come back
  }
}

function done<T>(outcome: Outcome<T>): T {
  if (outcome.kind === "done") return outcome.value;
  throw new StateError(outcome.kind === "failed" ? outcome.failure.message : outcome.because);
}

/** Runs work on files; what the system refuses is told in one line. */
async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal || !(error instanceof Error)) throw error;
    throw new StateError(error.message);
  }
}

function said(line: string): void {
  process.stdout.write(`${line}\n`);
}

import { hostname } from "node:os";
import type { Command } from "commander";
import { jobSetId } from "../config/fingerprint.ts";
import type { Config, StateConfig } from "../config/model.ts";
import { problemsText } from "../config/problem.ts";
import type { Logger } from "../contract/log.ts";
import { loadWithTemplates } from "../daemon/load.ts";
import { type Collection, collectGarbage } from "../journal/upkeep/collection.ts";
import { configuredBy } from "../journal/upkeep/manifests.ts";
import { systemClock } from "../platform/clock.ts";
import { exitNow } from "../platform/exit-now.ts";
import { backUp } from "../store/admin/backup.ts";
import { migrate } from "../store/admin/migrate.ts";
import { migrateSchema } from "../store/admin/migrate-schema.ts";
import { storeReport } from "../store/admin/report.ts";
import { restore } from "../store/admin/restore.ts";
import { encodeName } from "../store/filesystem/names.ts";
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
  /** Nothing has been done; the words are those that scripts look for (ADM-1). */
  const refused = (line: string): void => {
    process.stderr.write(`${line}\n`);
    context.finish(1);
  };

  action("backup", "archive the store, also while a daemon uses it")
    .requiredOption("-o, --output <file.tar.gz>", "the archive to write")
    .action(async ({ output }: { output: string }, command: Command) => {
      const { base } = configured(command);
      const done = await failing(() => backUp(base, output));
      if (done.kind === "no store") refused(`state: nothing to back up: ${base} does not exist`);
      else said(`state: backed up ${done.files} file(s) from ${base} to ${output}`);
    });

  action("restore", "put an archive's files into a store that no daemon uses")
    .argument("<file.tar.gz>", "what backup wrote")
    .option("--force", "merge into a store that is not empty")
    .action(async (archive: string, { force = false }: { force?: boolean }, command: Command) => {
      const { base } = configured(command);
      const done = await failing(() => restore(archive, base, force));
      if (done.kind === "populated") {
        refused(
          `state: refusing to restore into the non-empty store at ${base} (pass --force to merge into it; NOT safe while a daemon uses it)`,
        );
        return;
      }
      said(`state: restored ${done.files} file(s) from ${archive} into ${base}`);
      if (done.keptLeases > 0) {
        said(
          `state: kept ${done.keptLeases} current lease file(s) whose archived fence was older (restoring those would regress fence counters)`,
        );
      }
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
          refused("state: destination must be a store outside the source");
          return;
        case "populated":
          refused(
            `state: refusing to migrate into the non-empty store at ${destination} (pass --force to overwrite; NOT safe while a daemon uses it)`,
          );
          return;
        case "done":
          said(`state: migrated ${done.files} file(s) from ${base} to ${destination}`);
          said("state: point state.path at the new location (and update deploymentId if you changed it) to cut over");
      }
    });

  action("gc", "delete what no recent configuration uses any more")
    .option("--dry-run", "only say what would go")
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const { config, section } = configured(command);
      if (section.gcGraceSeconds <= 0)
        throw new StateError("state.gcGraceSeconds is disabled (<= 0); nothing to collect");
      await withStore(section, async (store) => {
        const parts = { backend: () => store, clock: systemClock, log: quiet };
        const own = { ...configuredBy(config, jobSetId(config.jobs)), host: hostname() };
        // Runs of removed DAGs are the daemon's: it knows which of them it advances (ADM-5).
        const request = { own, graceSeconds: section.gcGraceSeconds, dryRun, runs: null };
        tellCollection(await collectGarbage(parts, request), dryRun);
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
    throw new StateError(
      "the configuration has no `state:` section; `cronstable state` administers the durable store it defines",
    );
  }
  return { config, section: config.state, base: storeLayout(config.state.path, config.state.deploymentId).base };
}

function tellCollection(done: Collection, dryRun: boolean): void {
  switch (done.kind) {
    case "deferred":
      said(
        "state: gc deferred: the manifest history does not yet span gcGraceSeconds, so the store cannot prove what is orphaned",
      );
      return;
    case "given up":
      throw new StateError(`gc gave up, nothing more was deleted: ${done.because}`);
    case "done": {
      const { streams, keptStreams, tidied, blobs } = done;
      const verb = dryRun ? "would remove" : "removed";
      const records = streams.reduce((sum, stream) => sum + stream.records, 0);
      said(
        `state: gc ${verb} ${streams.length} stream(s) (${records} record(s)), ${tidied.temporaries} temp file(s), ${tidied.quarantined} quarantined record(s); kept ${keptStreams} stream(s)`,
      );
      said(
        blobs.kind === "swept"
          ? `state: gc ${verb} ${blobs.count} orphaned artifact blob(s)`
          : `state: orphan-blob sweep skipped: ${blobs.because}`,
      );
      for (const { name } of streams) said(`  - ${encodeName(name)}`);
    }
  }
}

async function withStore(section: StateConfig, use: (store: Store) => Promise<void>): Promise<void> {
  const { path, deploymentId, topology, maxOpsPerSecond } = section;
  const store = done(
    await openFilesystemStore({ path, deploymentId, topology, maxOpsPerSecond, clock: systemClock, log: quiet }),
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

/** What a daemon would log: of that only warnings concern somebody at a terminal. */
const quiet: Logger = {
  debug: () => {},
  info: () => {},
  warning: warned,
  error: warned,
  critical: warned,
  enabled: (level) => level !== "debug" && level !== "info",
};

function warned(message: string): void {
  process.stderr.write(`${message}\n`);
}

function said(line: string): void {
  process.stdout.write(`${line}\n`);
}

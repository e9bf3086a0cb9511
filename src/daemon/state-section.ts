import type { StateConfig } from "../config/model.ts";
import type { LoggerNamed } from "../contract/log.ts";
import type { JobApi } from "../jobapi/job-api.ts";
import type { DaemonProcess } from "../journal/inflight/inflight-record.ts";
import type { Clock } from "../platform/clock.ts";
import type { Store } from "../store/store.ts";

/** The `state` section in force: the open store, and what jobs may do with it. */
export interface StateSection {
  /**
   * Takes a section, or none. The same content changes nothing; another one closes the store and opens it anew (GEN-6). Resolves when
   * the store is open or its start has failed, 10 s later at most; never rejects.
   */
  apply(section: StateConfig | null): Promise<void>;
  /** Once a minute: tries again what could not be started. */
  check(): void;
  /** Null without a section, with `jobApi.enabled: false`, and while the store cannot be opened: jobs then run without it. */
  jobApi(): JobApi | null;
  /** Null without a section, and while the store cannot be opened. */
  store(): Store | null;
  close(): Promise<void>;
}

/** How long accepted operations may still take when the store is closed. */
const CLOSE_PATIENCE_MS = 5_000;

/** Opens and closes the store as the configuration says. Nothing of it is loaded before the first section (GEN-2). */
export function stateSection(parts: {
  readonly clock: Clock;
  readonly logs: LoggerNamed;
  readonly self: DaemonProcess;
  /** The store is open, whenever it is. */
  onOpen(): void;
  /** The store is about to be closed; nobody finds it any more. */
  onClose(): void;
}): StateSection {
  const { clock, logs, self } = parts;
  const log = logs("cronstable.state");
  let asked: StateConfig | null = null;
  let open: { readonly store: Store; readonly jobApi: JobApi | null } | null = null;
  /** Starts and stops follow each other, whatever comes in between. */
  let turn: Promise<void> = Promise.resolve();

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    turn = turn.then(work).catch((error: unknown) => {
      log.error(`state: failed to start: ${error instanceof Error ? error.message : String(error)}`);
    });
    return turn;
  };

  const stop = async (): Promise<void> => {
    const { store, jobApi } = open ?? {};
    open = null;
    if (store !== undefined) parts.onClose();
    await jobApi?.stop();
    const closed = await store?.close(CLOSE_PATIENCE_MS);
    if (closed !== undefined && closed.unfinished > 0) {
      log.warning(
        `state: ${closed.unfinished} operation(s) had not ended when the store was closed; they may or may not have landed`,
      );
    }
  };

  const start = async (section: StateConfig): Promise<void> => {
    const { openFilesystemStore } = await import("../store/filesystem/open.ts");
    const { path, deploymentId, topology, maxOpsPerSecond } = section;
    const started = await openFilesystemStore({ path, deploymentId, topology, maxOpsPerSecond, clock, log });
    if (started.kind !== "done") {
      const why = started.kind === "failed" ? started.failure.message : started.because;
      log.error(`state: failed to start: ${why}; jobs run without it, and it is tried again every minute`);
      return;
    }
    open = { store: started.value, jobApi: section.jobApi.enabled ? await startApi(started.value, section) : null };
    parts.onOpen();
  };

  const startApi = async (store: Store, { jobApi }: StateConfig): Promise<JobApi | null> => {
    const [{ startJobApi }, { resolveSecret }] = await Promise.all([
      import("../jobapi/job-api.ts"),
      import("../report/secret.ts"),
    ]);
    const { host, proc: procId } = self;
    return startJobApi({ store, config: jobApi, clock, log: logs("cronstable.jobapi"), host, procId, resolveSecret });
  };

  return {
    apply(section) {
      if (JSON.stringify(section) === JSON.stringify(asked)) return turn;
      if (asked !== null) log.info("state: configuration changed, stopping");
      asked = section;
      return inTurn(async () => {
        await stop();
        if (section !== null) await start(section);
      });
    },
    check() {
      const section = asked;
      if (section !== null && open === null) {
        void inTurn(async () => {
          if (open === null && asked === section) await start(section);
        });
      }
    },
    jobApi: () => open?.jobApi ?? null,
    store: () => open?.store ?? null,
    close: () => {
      asked = null;
      return inTurn(stop);
    },
  };
}

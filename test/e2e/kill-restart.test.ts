import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Folder, type Program, withFolder } from "../support/daemon-process.ts";

const KILLS = Number(process.env.STORE_KILL_RESTARTS ?? 10);

/** Starts that a daemon makes before it is killed. */
const STARTS_PER_LIFE = 25;

const PERIOD_SECONDS = 20;

interface Fire {
  readonly job: string;
  readonly runId: string;
  readonly pid: number;
  readonly attempt: number;
  /** As the command was told, seconds precise; NaN where it was told none, as when a kill took the row of the job's only fire so far. */
  readonly slot: number;
  /** When the command said so, in seconds. */
  readonly at: number;
}

type Body = Readonly<Record<string, unknown>>;

/** 200 jobs, ten starts a second: plain ones, ones that catch up, ones that fail first and succeed when tried again, and slow ones. */
function configuration({ path }: Folder): string {
  const note = `echo "$CRONSTABLE_RUN_ID $$ $CRONSTABLE_ATTEMPT $CRONSTABLE_SCHEDULED_AT $(date +%s)" >> ${path}/fires/$CRONSTABLE_JOB_NAME`;
  const kinds: readonly (readonly [name: string, count: number, command: string, more: string])[] = [
    ["plain", 90, note, ""],
    ["slow", 10, `${note}; exec sleep 1`, ""],
    ["all", 40, note, "onMissed: run-all"],
    ["once", 20, note, "onMissed: run-once"],
    [
      "flaky",
      40,
      `${note}; test "$CRONSTABLE_ATTEMPT" != 0`,
      "onFailure: {retry: {maximumRetries: 3, initialDelay: 1, maximumDelay: 4, backoffMultiplier: 2}}",
    ],
  ];
  let index = 0;
  const jobs = kinds.flatMap(([kind, count, command, more]) =>
    Array.from({ length: count }, (_, number) => {
      const schedule = `${index++ % PERIOD_SECONDS}-59/${PERIOD_SECONDS} * * * * * *`;
      return `  - {name: ${kind}-${number}, command: '${command}', schedule: "${schedule}", ${more}}`;
    }),
  );
  return [
    `state: {path: ${path}/store}`,
    "defaults: {concurrencyPolicy: Forbid, captureStderr: false, captureStdout: false}",
    "jobs:",
    ...jobs,
    "",
  ].join("\n");
}

/** What the commands themselves have written down. */
function fires({ path }: Folder): Fire[] {
  return readdirSync(join(path, "fires")).flatMap((job) =>
    readFileSync(join(path, "fires", job), "utf8")
      .trim()
      .split("\n")
      .map((line) => {
        const [runId = "", pid, attempt, slot = "", at] = line.split(" ");
        const known = { job, runId, pid: Number(pid), attempt: Number(attempt), at: Number(at) };
        return { ...known, slot: Math.round(Date.parse(slot) / 1000) };
      }),
  );
}

/** Bodies of the records of all streams of a family, oldest first, by job. */
function records({ path }: Folder, family: string): Map<string, Body[]> {
  const root = join(path, "store/default/records");
  const streams = readdirSync(root).filter((name) => name.startsWith(`${family}%2F`));
  return new Map(
    streams.map((stream) => {
      const files = readdirSync(join(root, stream)).sort();
      const bodies = files.map((file): Body => JSON.parse(readFileSync(join(root, stream, file), "utf8")).data);
      return [decodeURIComponent(stream).slice(family.length + 1), bodies];
    }),
  );
}

function slotOf(row: Body): number | null {
  const trigger = row.trigger as { readonly slot?: string } | undefined;
  return trigger?.slot === undefined ? null : Math.round(Date.parse(trigger.slot) / 1000);
}

/** Slots of the jobs that catch up all, from the first one that fired to `until`, which no row tells of. */
function unserved(folder: Folder, until: number): string[] {
  const rows = records(folder, "runs");
  return [...rows].flatMap(([job, of]) => {
    if (!job.startsWith("all-")) return [];
    const served = new Set(of.map(slotOf));
    const first = Math.min(...[...served].filter((slot) => slot !== null));
    const missing: string[] = [];
    for (let slot = first; slot <= until; slot += PERIOD_SECONDS)
      if (!served.has(slot)) missing.push(`${job} ${new Date(slot * 1000).toISOString()}`);
    return missing;
  });
}

/** Fires of before `until` that neither a row of their own tells of nor an unknown one of their job stands for, `excused` ones aside. */
function unaccounted(folder: Folder, until: number, excused: ReadonlySet<string>): string[] {
  const rows = records(folder, "runs");
  const left = fires(folder)
    .filter(({ job, runId, at }) => at < until && rows.get(job)?.some((row) => row.runId === runId) !== true)
    .filter(({ runId }) => !excused.has(runId))
    .map(({ job }) => job);
  for (const [job, of] of rows) {
    for (const { outcome } of of) if (outcome === "unknown" && left.includes(job)) left.splice(left.indexOf(job), 1);
  }
  return left;
}

function startsSeen(program: Program): Promise<unknown> {
  return program.seen(new RegExp(`(?:Starting job [^]*?){${STARTS_PER_LIFE}}`));
}

test(
  `a daemon that is killed ${KILLS} times while it works accounts for every fire`,
  () =>
    withFolder(async (folder) => {
      mkdirSync(join(folder.path, "fires"));
      const config = folder.write("jobs.yaml", configuration(folder));
      const onRecord = new Set<string>();
      const inHandover = new Set<string>();

      for (let kill = 0; kill < KILLS; kill++) {
        const daemon = folder.start("-c", config);
        await startsSeen(daemon);
        daemon.child.kill("SIGKILL");
        await daemon.ended;
        const rows = records(folder, "runs");
        const inFlight = records(folder, "inflight");
        for (const { job, runId, pid } of fires(folder)) {
          const hasRow = rows.get(job)?.some((row) => row.runId === runId) === true;
          const isOpen = inFlight.get(job)?.some((record) => record.kind === "open" && record.pid === pid) === true;
          if (hasRow || isOpen) onRecord.add(runId);
          else if (!onRecord.has(runId)) inHandover.add(runId);
        }
      }

      const restartedAt = Math.floor(Date.now() / 1000);
      const last = folder.start("-c", config);
      await startsSeen(last);
      // A job that was live when the cut runs were looked up is looked at again a minute later.
      while (unserved(folder, restartedAt).length + unaccounted(folder, restartedAt, inHandover).length > 0)
        await delay(500);
      last.child.kill("SIGTERM");
      expect(await last.ended).toBe(0);

      const all = fires(folder);
      expect(all.length).toBeGreaterThan((KILLS * STARTS_PER_LIFE) / 2);
      expect(new Set(all.map(({ runId }) => runId)).size).toBe(all.length);

      // Each fire has its row, or an unknown one stands for it; only what was being handed over at a kill has neither.
      expect(unaccounted(folder, restartedAt, inHandover)).toEqual([]);
      expect(inHandover.size).toBeLessThan(all.length / 10);

      // What was owed was caught up; no retry is left behind, and none ran twice.
      expect(unserved(folder, restartedAt)).toEqual([]);
      const openCycles = [...records(folder, "catchup")].filter(([, of]) => of.at(-1)?.kind === "open");
      expect(openCycles.map(([job]) => job)).toEqual([]);
      const pending = [...records(folder, "retries")].filter(
        ([, of]) => of.at(-1)?.kind === "pending" && Date.parse(String(of.at(-1)?.notBefore)) < restartedAt * 1000,
      );
      expect(pending.map(([job]) => job)).toEqual([]);
      const retried = all
        .filter(({ attempt, slot }) => attempt > 0 && !Number.isNaN(slot))
        .map(({ job, attempt, slot }) => `${job} #${attempt} of ${slot}`);
      expect(retried.length).toBeGreaterThan(0);
      expect(retried.filter((one, index) => retried.indexOf(one) !== index)).toEqual([]);
    }),
  KILLS * 60_000,
);

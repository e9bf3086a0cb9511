import type { DagConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import { type Backend, onBackend } from "../journal/backend.ts";
import { type Checkpoint, checkpointRecord } from "../journal/catchup/checkpoint-record.ts";
import { failureText } from "../journal/drops.ts";
import { readInstant } from "../journal/instant.ts";
import { dagCatchupStream, keep } from "../journal/streams.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import type { Outcome } from "../store/store.ts";
import { type CatchUp, catchUpOf } from "./catchup.rules.ts";
import type { Creation } from "./creation.ts";
import { INSTANTS_MAX } from "./limits.ts";
import type { RunIndex } from "./run-index.ts";

/**
 * Runs of dates that nobody was there for (section 11), per DAG, at the start of a store and after a gap.
 *   U1. What is owed is counted up to the instant it was asked for, whatever runs are created meanwhile.
 *   U2. What the store does not tell is asked again; nothing is taken for "nothing missed".
 *   U3. With an offset, the checkpoint is written before the wait (D-CAT-3), and closed after the last creation.
 *   U4. After the wait everything is asked again; what does not hold any more leaves the checkpoint open.
 *   U5. No run of a later date is created before what is owed is, or stands in a checkpoint: its date would hide the missed ones from the
 *       start after a crash.
 */
export interface DagCatchUp {
  /** The DAG may owe runs, of dates up to `until`, by default up to now. */
  wanted(dag: string, until?: EpochMs): void;
  /** Evaluates what is wanted and could not be yet. */
  tryAgain(): void;
  /** Whether a date that has come due, and is this node's to create, has to wait until it is told `onDecided` (U5). */
  mustWait(dag: string, date: EpochMs): boolean;
  /** Between two creations, and out of every wait. Resolves when nothing goes on. */
  stop(): Promise<void>;
}

export interface CatchUpParts {
  readonly backend: Backend;
  readonly index: RunIndex;
  readonly creation: Pick<Creation, "ofDate">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly dag: (name: string) => DagConfig | null;
  /** Whether this node creates the DAG's scheduled runs (D-SCH-5). */
  readonly mayCreate: (dag: DagConfig) => boolean;
  /** Dates that have come due wait no more. */
  readonly onDecided: () => void;
}

export function createCatchUp(parts: CatchUpParts): DagCatchUp {
  const { backend, index, creation, clock, log } = parts;
  /** Up to which instant each DAG is to be looked at; null up to the next look. */
  const upTo = new Map<string, EpochMs | null>();
  const underWay = new Map<string, Promise<void>>();
  const undecided = new Set<string>();
  const sleepers = new Set<() => void>();
  let stopped = false;

  /** The DAG, if it makes up for anything, and here. */
  const eligible = (name: string): DagConfig | null => {
    const dag = parts.dag(name);
    return dag !== null && dag.timing !== null && dag.enabled && dag.onMissed !== "skip" ? dag : null;
  };

  /** @returns whether it is on disk */
  const write = async (dag: string, kind: Checkpoint["kind"], watermark: EpochMs | null): Promise<boolean> => {
    const written = await appendCheckpoint(backend, dag, { kind, at: clock.wallNow(), watermark });
    if (written.kind === "done") return true;
    log.warning(`dag ${dag}: the catch-up checkpoint (${kind}) could not be stored: ${failureText(written)}`);
    return false;
  };

  const decide = (dag: string): void => {
    if (undecided.delete(dag)) parts.onDecided();
  };

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        sleepers.delete(wake);
        resolve();
      };
      const cancel = clock.after(ms, wake);
      sleepers.add(wake);
    });

  const evaluate = async (name: string, now: EpochMs): Promise<"decided" | "later" | "not ours"> => {
    const dag = eligible(name);
    if (dag === null) return "decided";
    if (!parts.mayCreate(dag)) return "not ours"; // it may be once: then up to that instant
    const listed = await index.look(name, 0);
    const checkpoints = await readCheckpoints(backend, name);
    if (listed.kind !== "done" || checkpoints.kind !== "done") return "later"; // U2
    const dates = listed.value.runs.flatMap(({ logicalDate }) => readInstant(logicalDate) ?? []);
    const owed = catchUpOf(dag, { dates, ...checkpoints.value }, now);
    if (owed.kind === "nothing") {
      if (owed.close) await write(name, "close", checkpoints.value.open === "none" ? null : checkpoints.value.open);
      return "decided";
    }
    return (await replay(dag, owed)) ? "decided" : "later";
  };

  /** @returns whether it is done with, until the next start or gap */
  const replay = async (
    { name }: DagConfig,
    { instants, truncated, watermark, offsetMs, resumed }: Extract<CatchUp, { kind: "replay" }>,
  ): Promise<boolean> => {
    if (truncated)
      log.warning(
        `dag ${name}: missed more than ${INSTANTS_MAX} runs; replaying ${INSTANTS_MAX} and dropping the rest`,
      );
    const offset = offsetMs === 0 ? "" : `, ${offsetMs / 1000} s from now`;
    log.info(`dag ${name}: catch-up replays ${instants.length} missed run(s)${offset}`);
    if (offsetMs > 0) {
      if (!(await write(name, "open", watermark))) return false; // U3
      decide(name);
      await sleep(offsetMs);
    }
    for (const date of instants) {
      const dag = eligible(name); // U4
      if (stopped || dag === null || !parts.mayCreate(dag)) {
        const because = stopped ? "the daemon or its store stops" : "it is not for this node, or not at all, any more";
        log.info(`dag ${name}: stopped replaying missed runs: ${because}; the next start looks at it again`);
        return true;
      }
      const outcome = await creation.ofDate(dag, "catchup", date);
      if (outcome.kind === "done") continue;
      log.warning(`dag ${name}: a missed run could not be created: ${failureText(outcome)}; trying again`);
      return false;
    }
    if (offsetMs > 0 || resumed) await write(name, "close", watermark);
    return true;
  };

  const begin = (name: string): void => {
    const asked = upTo.get(name);
    if (stopped || asked === undefined || underWay.has(name)) return;
    const work = evaluate(name, asked ?? clock.wallNow())
      .then((outcome) => {
        if (upTo.get(name) !== asked) return; // asked again meanwhile
        if (outcome === "later") return;
        if (outcome === "decided") upTo.delete(name);
        else upTo.set(name, null);
        decide(name);
      })
      .catch((error: unknown) => {
        // Said once and not tried again: it would fail the same way (D-SCH-6).
        upTo.delete(name);
        decide(name);
        log.error(`dag ${name}: catch-up failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
      })
      .finally(() => {
        underWay.delete(name);
        if (typeof upTo.get(name) === "number" && upTo.get(name) !== asked) begin(name);
      });
    underWay.set(name, work);
  };

  const wanted = (name: string, until = clock.wallNow()): void => {
    if (eligible(name) === null) return;
    upTo.set(name, until); // U1
    undecided.add(name);
    begin(name);
  };

  return {
    wanted,
    tryAgain() {
      for (const name of upTo.keys()) begin(name);
    },
    mustWait(name, date) {
      // It was another node's so far: what that one has left undone ends before this date.
      if (upTo.get(name) === null) wanted(name, date - 1);
      return undecided.has(name);
    },
    async stop() {
      stopped = true;
      for (const wake of [...sleepers]) wake();
      await Promise.all(underWay.values());
    },
  };
}

export function appendCheckpoint(backend: Backend, dag: string, checkpoint: Checkpoint): Promise<Outcome<unknown>> {
  const body = checkpointRecord.encode(checkpoint);
  return onBackend(backend, ({ records }) => records.append(dagCatchupStream(dag), body, { keep: keep.catchup }));
}

/** The cycle that is open, and the newest watermark of one that was closed (D-CAT-6). */
export async function readCheckpoints(
  backend: Backend,
  dag: string,
): Promise<Outcome<{ readonly open: EpochMs | null | "none"; readonly closed: EpochMs | null }>> {
  const listed = await onBackend(backend, ({ records }) =>
    records.list(dagCatchupStream(dag), { order: "newest first", limit: keep.catchup, reading: "tolerant" }),
  );
  if (listed.kind !== "done") return listed;
  const found = listed.value.flatMap(({ data }) => {
    const decoded = checkpointRecord.decode(data);
    return decoded.kind === "record" ? [decoded.value] : [];
  });
  const [newest] = found;
  const open = newest?.kind === "open" ? newest.watermark : "none";
  const closed = found.flatMap(({ kind, watermark }) => (kind === "close" && watermark !== null ? [watermark] : []));
  return { kind: "done", value: { open, closed: closed.length === 0 ? null : Math.max(...closed) } };
}

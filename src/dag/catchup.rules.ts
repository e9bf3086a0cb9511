import type { DagConfig } from "../config/model.ts";
import { startOffsetMs } from "../journal/catchup/jitter.ts";
import { lastMissedSlot, missedSlots } from "../journal/catchup/missed.rules.ts";
import type { EpochMs } from "../platform/clock.ts";
import { INSTANTS_MAX } from "./limits.ts";

/** What the store tells of a DAG's past (11). */
export interface CatchUpFacts {
  /** Logical dates of its runs, of any kind. */
  readonly dates: readonly EpochMs[];
  /** Watermark of the cycle that is open; "none" when the newest checkpoint is no open one. */
  readonly open: EpochMs | null | "none";
  /** The newest watermark of a cycle that was closed: what retention has deleted runs of still counts (D-CAT-6). */
  readonly closed: EpochMs | null;
}

export type CatchUp =
  /** `close`: a cycle is open, and nothing is left of it. */
  | { readonly kind: "nothing"; readonly close: boolean }
  | {
      readonly kind: "replay";
      /** Oldest first. */
      readonly instants: readonly EpochMs[];
      /** More was missed than one cycle makes up for; the newest are left out. */
      readonly truncated: boolean;
      /** What the open checkpoint is to say, so that a restart counts from the same instant (D-CAT-3). */
      readonly watermark: EpochMs;
      /** How long to wait before the first is created: 0, or with an open checkpoint on disk (D-CAT-2, D-CAT-3). */
      readonly offsetMs: number;
      /** A cycle was open already: it is closed in the end whatever the offset. */
      readonly resumed: boolean;
    };

/**
 * What a DAG owes up to `now` (D-CAT-1). Dates to come, which a backfill may have run already, say nothing of what was missed before them.
 */
export function catchUpOf(dag: DagConfig, facts: CatchUpFacts, now: EpochMs): CatchUp {
  const resumed = facts.open !== "none";
  const nothing: CatchUp = { kind: "nothing", close: resumed };
  const watermark = watermarkOf(facts, now);
  if (dag.timing === null || dag.onMissed === "skip" || watermark === null) return nothing;
  const { schedule, zone } = dag.timing;
  const deadline = dag.startingDeadlineSeconds;
  const after = deadline === null ? watermark : Math.max(watermark, now - deadline * 1000);
  const stretch = { schedule, zone, after, upTo: now, pause: null };
  const newest = lastMissedSlot(stretch);
  if (newest === null) return nothing;
  // Of more than 100 missed slots, too, run-once means the newest (D-CAT-5).
  const missed = dag.onMissed === "run-once" ? [newest] : missedSlots(stretch, INSTANTS_MAX + 1);
  return {
    kind: "replay",
    instants: missed.slice(0, INSTANTS_MAX),
    truncated: missed.length > INSTANTS_MAX,
    watermark,
    offsetMs: startOffsetMs(dag.name, dag.catchupJitterSeconds),
    resumed,
  };
}

function watermarkOf({ dates, open, closed }: CatchUpFacts, now: EpochMs): EpochMs | null {
  const past = [...dates, ...(closed === null ? [] : [closed])].filter((date) => date <= now);
  const newest = past.length === 0 ? null : past.reduce((latest, date) => Math.max(latest, date));
  if (open === "none" || open === null) return newest;
  return newest === null ? open : Math.min(open, newest);
}

import type { DagConfig } from "../config/model.ts";
import type { BackfillOutcome } from "../contract/dag-control.ts";
import type { Logger } from "../contract/log.ts";
import { failureText } from "../journal/drops.ts";
import { isoInstant } from "../journal/instant.ts";
import { nextFire } from "../schedule/fires.ts";
import type { Creation } from "./creation.ts";
import { readRange } from "./instant-range.ts";
import { INSTANTS_MAX } from "./limits.ts";

/** The least step before an instant, so that a search from there finds the instant itself; fires are whole seconds. */
const JUST_BEFORE_MS = 0.001;

/** Creates the runs of every slot in the range, of all that are not there yet (12). What was written before a fault stays (D-BKF-4). */
export async function backfill(
  dag: DagConfig,
  from: string,
  to: string,
  { creation, log }: { readonly creation: Creation | null; readonly log: Logger },
): Promise<BackfillOutcome> {
  if (dag.timing === null) return { kind: "unknown dag" };
  const { schedule, zone } = dag.timing;
  const range = readRange(from, to);
  if (range === null) return { kind: "bad range" };
  if (nextFire(schedule, zone, Number.MIN_SAFE_INTEGER) === null) return { kind: "no instants" };
  if (creation === null) return { kind: "unavailable" };
  let instants = 0;
  let created = 0;
  let slot = nextFire(schedule, zone, range.from - JUST_BEFORE_MS);
  for (; slot !== null && slot <= range.to; slot = nextFire(schedule, zone, slot)) {
    if (instants === INSTANTS_MAX) return { kind: "created", instants, created, next: isoInstant(slot) };
    const outcome = await creation.ofDate(dag, "backfill", slot);
    if (outcome.kind !== "done") {
      log.error(
        `dag ${dag.name}: backfill stopped at ${isoInstant(slot)}: ${failureText(outcome)}; ${created} run(s) were created, the same request creates the rest`,
      );
      return { kind: "unavailable" };
    }
    instants++;
    if (outcome.value === "created") created++;
  }
  return { kind: "created", instants, created, next: null };
}

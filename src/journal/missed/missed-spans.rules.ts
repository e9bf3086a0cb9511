import type { NotRunReason } from "../../contract/reason.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { MISSED_SPANS_MAX } from "../limits.ts";
import type { MissedSpan } from "./missed-record.ts";

/** A slot, or with `before` all slots from `slot` on before that, which were not walked one by one. */
export interface MissedSlot {
  readonly slot: EpochMs;
  readonly before: EpochMs | null;
  readonly reason: NotRunReason;
}

/**
 * Whether this node has to account for it. A pause leaves a row of its own; what another node owns runs or is accounted for there, and
 * a job that is gone has no slots.
 */
export function isAccountedHere({ kind }: NotRunReason): boolean {
  return kind !== "paused" && kind !== "not-owner" && kind !== "removed" && kind !== "disabled";
}

/** The spans with one slot more; one that follows for the same reason makes the last span longer. The oldest go when there are too many. */
export function withSlot(spans: readonly MissedSpan[], { slot, before, reason }: MissedSlot): MissedSpan[] {
  const last = spans.at(-1);
  if (before === null && last !== undefined && last.count !== null && slot > last.to && isSame(last.reason, reason)) {
    return [...spans.slice(0, -1), { ...last, to: slot, count: last.count + 1, reason }];
  }
  const span: MissedSpan = { from: slot, to: before ?? slot, count: before === null ? 1 : null, reason };
  return [...spans, span].slice(-MISSED_SPANS_MAX);
}

/** One kind is one reason: how many instances ran, or how late it was, may differ from slot to slot. */
function isSame(a: NotRunReason, b: NotRunReason): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind === "slot-held" && b.kind === "slot-held") return a.holder === b.holder;
  if (a.kind === "pool-refused" && b.kind === "pool-refused") return a.pool === b.pool && a.why === b.why;
  if (a.kind === "pool-unavailable" && b.kind === "pool-unavailable") return a.pool === b.pool;
  if (a.kind === "store-unavailable" && b.kind === "store-unavailable") return a.what === b.what;
  return true;
}

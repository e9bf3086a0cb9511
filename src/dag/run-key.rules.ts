import { isoInstant } from "../journal/instant.ts";
import type { EpochMs } from "../platform/clock.ts";

/** The instant a run stands for, as its document says it: UTC, microseconds only if there are any (D-KEY-1). */
export function logicalDateText(instant: EpochMs): string {
  return isoInstant(instant);
}

/** Key of the one run of a logical date, whoever creates it: `2026-07-04T02:00:00_00:00` (D-KEY-1, D-KEY-2). */
export function dateRunKey(instant: EpochMs): string {
  return isoInstant(instant).replace(/[^0-9A-Za-z_.:-]+/g, "_");
}

/** @param random 12 hex digits */
export function manualRunKey(random: string): string {
  return `manual-${random}`;
}

/** @param planToken 64 hex digits: the same plan has the same run (D-RCV-1) */
export function recoveryRunKey(planToken: string): string {
  return `recovery-${planToken}`;
}

/** Where the documents of a DAG's runs are (5.1). */
export function runNamespace(dag: string): string {
  return `dagrun/${dag}`;
}

/** The lease under which alone a run is advanced, deleted or recovered from (D-OWN-1). */
export function advanceLease(dag: string, runKey: string): string {
  return `dagadvance/${dag}/${runKey}`;
}

/** Scope of what the tasks of one run hand each other (D-INT-6). */
export function xcomScope(dag: string, runId: string): string {
  return `dagxcom/${dag}/${runId}`;
}

/** Stream of the records of that scope. */
export function xcomStream(dag: string, runId: string): string {
  return `artifacts/${xcomScope(dag, runId)}`;
}

/** Where what is asked for in ranges of recoveries is (15). */
export function recoveryNamespace(dag: string): string {
  return `recoverybatch/${dag}`;
}

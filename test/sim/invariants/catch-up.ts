import { readInstant } from "../../../src/journal/instant.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { isObject, type JsonObject } from "../../../src/store/json.ts";
import type { Fact } from "../world/facts.ts";
import { type SimJob, slotsOf } from "../world/sim-job.ts";
import type { World } from "../world/world.ts";
import { clockTime, type Invariant } from "./invariant.ts";

/** Launches of one cycle. */
const CAP = 100;

/** What the ledger tells of a run or a skipped slot. */
interface Row {
  readonly finish: EpochMs;
  readonly slot: EpochMs | null;
  readonly ran: boolean;
}

/** The firing loop looks at the clock at least this often. */
const NOTICED_WITHIN_MS = 61_000;

/** What one daemon owes one job of the time before it, as it stood when the daemon began to fire. */
interface Account {
  readonly job: string;
  readonly policy: "run-once" | "run-all";
  /** Exactly these, in this order. */
  readonly owed: readonly EpochMs[];
  /** A job with pauses has been owed at least and at most something; null: exactly `owed`. */
  readonly atMost: ReadonlySet<EpochMs>;
  readonly exact: boolean;
  /** Slots that the clock jumped over while the daemon was up. */
  readonly gaps: { readonly from: EpochMs; readonly until: EpochMs }[];
  readonly launched: EpochMs[];
  triedAt: EpochMs;
  /** Something happened that may end a cycle: an edit, a pause, another owner. */
  disturbed: boolean;
}

/**
 * Catch-up launches the slots that are owed, those and no others, each once (CAT-1 to CAT-14, CAT-20 to CAT-25). What is owed is counted
 * here from what is in the store when a daemon begins, by plain arithmetic: all slots after the last one that was dealt with, or after
 * the watermark of a cycle that a crash cut, up to the daemon's beginning, within the deadline.
 */
export function catchUpOwed(world: World): Invariant {
  const accounts = new Map<string, Map<string, Account>>();
  const newestOf = new Map<string, JsonObject>();
  const rows = new Map<string, Row[]>();
  const pauses = new Map<string, { readonly since: EpochMs; readonly until: EpochMs }[]>();
  const ended = new Set<string>();
  const configured = new Set<string>();
  /** Daemons that are not judged: their jobs were edited, so that one may owe by another definition, or their clock went back. */
  const loose = new Set<string>();
  const isFleet = world.places.length > 1;

  const openAccount = (job: SimJob, now: EpochMs): Account | null => {
    const { name, onMissed, enabled, startingDeadlineSeconds } = job.config;
    if (job.timetable === null || onMissed === "skip" || !enabled) return null;
    const checkpoint = newestOf.get(`catchup/${name}`);
    const openAt = checkpoint?.kind === "open" ? readInstant(checkpoint.watermark) : null;
    const before = (rows.get(name) ?? []).filter(({ finish, slot }) => finish <= now || (slot !== null && slot <= now));
    const reference = least(greatest(before.map(({ finish }) => finish)), openAt);
    const lowest = least(reference, greatest(before.filter(({ ran }) => ran).map(({ finish }) => finish)));
    const account = { job: name, policy: onMissed, gaps: [], launched: [], triedAt: 0, disturbed: false };
    const earliest = startingDeadlineSeconds === null ? Number.NEGATIVE_INFINITY : now - startingDeadlineSeconds * 1000;
    const found = reference === null ? [] : slotsOf(job.timetable, Math.max(reference, earliest), now);
    const broadest = lowest === null ? [] : slotsOf(job.timetable, Math.max(lowest, earliest), now);
    const windows = pauses.get(name) ?? [];
    const excused = found.filter((slot) => !windows.some(({ since, until }) => since <= slot && slot < until));
    const owed = onMissed === "run-all" ? excused.slice(0, CAP) : excused.slice(-1);
    return { ...account, owed, atMost: new Set(broadest), exact: windows.length === 0 && !isFleet };
  };

  const accountOf = (proc: string, job: string): Account | null => accounts.get(proc)?.get(job) ?? null;

  const disturb = (job: string | null): null => {
    for (const [proc, byJob] of accounts) {
      if (ended.has(proc)) continue;
      for (const account of byJob.values()) if (job === null || account.job === job) account.disturbed = true;
    }
    return null;
  };

  return {
    promise: "catch-up launches exactly the slots that are owed (CAT-1 to CAT-14, CAT-20 to CAT-25)",
    saw(fact: Fact) {
      switch (fact.kind) {
        case "daemon started": {
          const byJob = new Map<string, Account>();
          for (const job of world.jobs.values()) {
            const account = openAccount(job, fact.wall);
            if (account !== null) byJob.set(account.job, account);
          }
          accounts.set(fact.daemon.proc, byJob);
          return null;
        }
        case "daemon ended":
          ended.add(fact.daemon.proc);
          return null;
        case "landed": {
          const { stream, body } = fact;
          newestOf.set(stream, body);
          const job = stream.slice(stream.indexOf("/") + 1);
          if (stream.startsWith("runs/")) {
            const finish = readInstant(body.finished_at);
            const { trigger } = body;
            const slot = isObject(trigger) ? readInstant(trigger.slot) : null;
            if (finish !== null)
              rows.set(job, [...(rows.get(job) ?? []), { finish, slot, ran: body.ranAt !== undefined }].slice(-1000));
          }
          if (stream.startsWith("paused/") && body.kind === "paused") {
            const window = { since: readInstant(body.since) ?? 0, until: readInstant(body.until) ?? 0 };
            pauses.set(job, [...(pauses.get(job) ?? []), window]);
          }
          return null;
        }
        case "clock moved": {
          if (fact.how === "sleeps") return null;
          const place = world.places.find(({ host }) => host.name === fact.host);
          // Time that comes round again: what it owes is anybody's reading.
          if (fact.byMs < 0) loose.add(place?.daemon?.id.proc ?? "");
          const until = place?.host.clock.wallNow() ?? 0;
          const proc = place?.daemon?.id.proc ?? "";
          for (const account of accounts.get(proc)?.values() ?? [])
            account.gaps.push({ from: until - fact.byMs - NOTICED_WITHIN_MS, until: until + NOTICED_WITHIN_MS });
          return null;
        }
        case "configured": {
          // The first configuration of a daemon disturbs nothing.
          if (configured.has(fact.daemon.proc)) loose.add(fact.daemon.proc);
          configured.add(fact.daemon.proc);
          if (loose.has(fact.daemon.proc))
            for (const account of accounts.get(fact.daemon.proc)?.values() ?? []) account.disturbed = true;
          return null;
        }
        case "paused":
          return disturb(fact.job);
        case "owner changed":
          return disturb(null);
        case "refused": {
          // Tried, and to be tried again: another start of its job came in between.
          const account = fact.trigger.kind === "catch-up" ? accountOf(fact.daemon.proc, fact.job) : null;
          if (account !== null) account.triedAt = fact.at;
          return null;
        }
        case "launched":
          return fact.trigger.kind === "catch-up" ? launched(fact.daemon.proc, fact.job.name, fact.trigger.slot) : null;
        default:
          return null;
      }
    },
    atEnd() {
      for (const { daemon } of world.places) {
        for (const account of accounts.get(daemon?.id.proc ?? "")?.values() ?? []) {
          const { job, owed, launched, exact, disturbed, policy } = account;
          if (!exact || disturbed || loose.has(daemon?.id.proc ?? "")) continue;
          const missing = owed.filter((slot) => !launched.includes(slot));
          const [first] = missing;
          if (first === undefined || (policy === "run-once" && launched.length > 0)) continue;
          if (world.time.now() - account.triedAt < NEXT_LAUNCH_WITHIN_MS) continue; // it is still at it
          return `${job}: ${missing.length} of ${owed.length} owed slots were not caught up, the first is ${clockTime(first)}`;
        }
      }
      return null;
    },
  };

  function launched(proc: string, job: string, slot: EpochMs): string | null {
    if (loose.has(proc)) return null;
    const account = accountOf(proc, job);
    if (account === null) return `${job}: caught up slot ${clockTime(slot)} without owing anything`;
    const { policy, owed, atMost, exact, gaps } = account;
    const isInGap = (one: EpochMs): boolean => gaps.some(({ from, until }) => from <= one && one < until);
    if (account.launched.includes(slot) && !account.disturbed) return `${job}: caught up slot ${clockTime(slot)} twice`;
    account.launched.push(slot);
    account.triedAt = world.time.now();
    if (isInGap(slot)) return null;
    // A cycle that a pause cut left its checkpoint open, and a later gap is counted from there, live fires included (CAT-25).
    if (account.disturbed && gaps.length > 0) return null;
    const before = account.launched.filter((one) => !isInGap(one)).length - 1;
    const expected = owed[before];
    // Nodes share a job's checkpoint: another one's cycle may begin earlier than this one's count.
    const isOwed = isFleet || (exact && !account.disturbed ? slot === expected : atMost.has(slot));
    if (isOwed && (policy === "run-all" || before === 0)) return null;
    const counted =
      owed.length === 0
        ? "nothing"
        : `${owed.length}, from ${clockTime(owed[0] ?? 0)} to ${clockTime(owed.at(-1) ?? 0)}`;
    return `${job} (${policy}): caught up slot ${clockTime(slot)} after ${before} others, which was not its turn (owed: ${counted})`;
  }
}

/** A long backfill is at its next run this soon: the longest run, and the wait for the job to be idle. */
const NEXT_LAUNCH_WITHIN_MS = 40 * 60_000;

function least(a: EpochMs | null, b: EpochMs | null): EpochMs | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

function greatest(instants: readonly EpochMs[]): EpochMs | null {
  return instants.length === 0 ? null : Math.max(...instants);
}

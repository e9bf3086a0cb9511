/**
 * What pools let in of the tasks of runs that this node advances (14). Numbered rules, cited where they are kept:
 *   L1. Admission before claim: a claim is launched only while this node holds the slot that it was made for (D-POL-8).
 *   L2. A slot is taken from its admission to the end of its process and verification, and every way out gives it back (D-POL-7).
 *   L3. Only the run's document says whether an instance waits. An entry it does not wait for is retired (D-POL-6); one that the pool has
 *       ended is retired when the document shows that (D-POL-4).
 *   L4. Of a run that another node advances nothing is retired: it waits there for the same entries (D-POL-3).
 */
import type { DagConfig, JobConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { WaitingEntry } from "../contract/pool.ts";
import type { PoolHost } from "../scheduler/pool-line.ts";
import type { Enqueued, PoolQueues } from "../scheduler/pool-queue.ts";
import { TASK_NO_LONGER_WAITS } from "../scheduler/pools.rules.ts";
import { admissionEntry } from "./admission-entry.ts";
import { type Claim, claimKey } from "./claim.rules.ts";
import { awaits } from "./completion.rules.ts";
import { graphOf } from "./graph.rules.ts";
import { STRANGERS_MAX } from "./limits.ts";
import type { Pass } from "./pass.ts";
import type { RunDocument } from "./run-document.ts";
import { advanceLease } from "./run-key.rules.ts";
import type { RunRef } from "./run-store.ts";

/** What the engine asks of the pools. */
export type TaskPools = Pick<PoolQueues, "enqueue" | "completed" | "released" | "retire" | "list">;

/** The pool would not let a claim in: the attempt has failed with this reason. */
export interface Refusal {
  readonly claim: Claim;
  readonly reason: string;
}

export interface Admissions {
  /** The engine's part in what becomes of the queues' entries. */
  readonly host: PoolHost;
  /** Keys of the claims of a run that are let in and not made yet. */
  admitted(run: RunRef, runId: string): ReadonlySet<string>;
  /** What the pools ended; to be written into the run by the next pass. */
  refused(run: RunRef, runId: string, dag: DagConfig): readonly Refusal[];
  /**
   * A pass whose document is stored: asks for what waits, retires what does not.
   *
   * @returns the claims that may be launched (L1)
   */
  passed(run: RunRef, pass: Pass, dag: DagConfig): readonly Claim[];
  /** A pass may not be stored: what was let in goes back to the queue (D-POL-8). */
  putBack(run: RunRef): void;
  /** Nothing of the run waits any more: it is gone, or its DAG is. */
  retireAll(run: RunRef): void;
  /** Another node advances the run, or may (L4). */
  letGo(run: RunRef): void;
  /** The store is gone, or the daemon stops. What runs keeps its slot. */
  letAllGo(): void;
  ended(run: RunRef, runId: string, claim: Claim): void;
  /** Nothing of the claim has run: it waits for its slot again where it stood. */
  notLaunched(run: RunRef, runId: string, claim: Claim): void;
  /** Some pass of this node waits for the entry, or it runs here. */
  knows(id: string): boolean;
}

export interface AdmissionsParts {
  /** Null without a journal. */
  readonly pools: () => TaskPools | null;
  readonly host: string;
  readonly log: Logger;
  /** Nothing is asked for any more. */
  readonly isDraining: () => boolean;
  /** The next pass over the run has something to do. */
  readonly onNews: (run: RunRef) => void;
  /** The slot is another's: what runs for it has to end. */
  readonly onLost: (run: RunRef, runId: string, claim: Claim) => void;
  /** A task's entry is at the head of a queue that no run of this node waits for. */
  readonly onStranger: () => void;
}

/** One entry in a queue, and the claim it is for. */
interface Ticket {
  readonly run: RunRef;
  readonly runId: string;
  readonly claim: Claim;
  readonly pool: string;
  readonly id: string;
  /** Name of its job. */
  readonly name: string;
  standing: Standing;
}

type Standing =
  | { readonly kind: "asked" }
  | { readonly kind: "waiting" }
  | { readonly kind: "admitted" }
  /** Launched, or about to be. */
  | { readonly kind: "claimed" }
  | { readonly kind: "refused"; readonly reason: string }
  /** Nobody knows it by its id any more; only an answer to its question may still come. */
  | { readonly kind: "dropped"; readonly retired: boolean };

interface RunTickets {
  /** By run id and claim. */
  readonly tickets: Map<string, Ticket>;
  /** What kept its tasks out of a queue, said once. */
  readonly said: Set<string>;
}

export function createAdmissions(parts: AdmissionsParts): Admissions {
  const { pools, log, onNews } = parts;
  const runs = new Map<string, RunTickets>();
  const byId = new Map<string, Ticket>();
  /** Entries of others that have been looked into. */
  const strangers = new Set<string>();

  const nameOf = ({ dag, runKey }: RunRef): string => advanceLease(dag, runKey);
  const keyOf = (runId: string, claim: Claim): string => `${runId}/${claimKey(claim)}`;
  const ticketsOf = (run: RunRef): readonly Ticket[] => [...(runs.get(nameOf(run))?.tickets.values() ?? [])];
  const ticketOf = (run: RunRef, runId: string, claim: Claim): Ticket | undefined =>
    runs.get(nameOf(run))?.tickets.get(keyOf(runId, claim));
  const inPool = (pool: string, id: string): Ticket | undefined => {
    const ticket = byId.get(id);
    return ticket?.pool === pool ? ticket : undefined;
  };

  const drop = (ticket: Ticket, retired: boolean): void => {
    const name = nameOf(ticket.run);
    const own = runs.get(name);
    const key = keyOf(ticket.runId, ticket.claim);
    if (own?.tickets.get(key) === ticket) own.tickets.delete(key);
    if (own?.tickets.size === 0 && own.said.size === 0) runs.delete(name);
    if (byId.get(ticket.id) === ticket) byId.delete(ticket.id);
    ticket.standing = { kind: "dropped", retired };
  };

  const giveBack = (ticket: Ticket): void => {
    ticket.standing = { kind: "waiting" };
    pools()?.released(ticket.pool, ticket.id);
  };

  const hush = (run: RunRef): void => {
    const name = nameOf(run);
    runs.get(name)?.said.clear();
    if (runs.get(name)?.tickets.size === 0) runs.delete(name);
  };

  const retire = (ticket: Ticket): void => {
    if (ticket.standing.kind === "admitted") giveBack(ticket); // L2
    drop(ticket, true);
    pools()?.retire(ticket.pool, ticket.id);
  };

  const leave = (ticket: Ticket): void => {
    if (ticket.standing.kind === "claimed") return;
    if (ticket.standing.kind === "admitted") giveBack(ticket);
    drop(ticket, false);
  };

  const refuse = (ticket: Ticket, reason: string | null): void => {
    // Another look at the run than ours came to it; whether it waits, our next pass says.
    if (reason === TASK_NO_LONGER_WAITS) drop(ticket, false);
    else ticket.standing = { kind: "refused", reason: reason ?? "the pool gave no reason" };
    onNews(ticket.run);
  };

  const ask = (run: RunRef, runId: string, claim: Claim, job: JobConfig): void => {
    const { pool, ...work } = admissionEntry(run, runId, claim, job);
    const ticket: Ticket = { run, runId, claim, pool, id: work.id, name: job.name, standing: { kind: "asked" } };
    const name = nameOf(run);
    const own = runs.get(name) ?? { tickets: new Map(), said: new Set() };
    runs.set(name, own);
    own.tickets.set(keyOf(runId, claim), ticket);
    byId.set(work.id, ticket);
    const asked = pools()?.enqueue(pool, work) ?? Promise.resolve(noState);
    void asked.then((found) => answered(ticket, own, found));
  };

  const answered = (ticket: Ticket, own: RunTickets, found: Enqueued): void => {
    const { standing, pool, name, run } = ticket;
    if (standing.kind === "dropped") {
      if (standing.retired && found.kind === "queued") pools()?.retire(pool, ticket.id);
      return;
    }
    if (found.kind === "queued") {
      if (standing.kind !== "asked") return; // let in, or ended, before we were told
      const { state, reason } = found.entry;
      if (state === "expired" || state === "cancelled") refuse(ticket, reason);
      else ticket.standing = { kind: "waiting" };
      return;
    }
    drop(ticket, false); // the next pass asks again (D-POL-5)
    const why = found.kind === "superseded" ? "its retries have ended" : found.why;
    const said = `Job ${name} could not enter pool ${pool}: ${why}`;
    if (own.said.has(said)) return;
    own.said.add(said);
    runs.set(nameOf(run), own);
    log.warning(`${said}; run ${run.runKey} of dag ${run.dag} asks again`);
  };

  const poolOf = (dag: DagConfig, { taskId }: Claim): string | null =>
    graphOf(dag).byId.get(taskId)?.job?.launch.pool?.pool ?? null;

  const stillWaits = ({ runId, claim, pool }: Ticket, document: RunDocument, dag: DagConfig): boolean => {
    const record = document.tasks.get(claim.taskKey);
    if (document.state !== "running" || document.runId !== runId || record === undefined) return false;
    return awaits(record, claim) && poolOf(dag, claim) === pool;
  };

  const isStranger = (id: string): boolean => {
    const standing = byId.get(id)?.standing.kind;
    return standing !== "asked" && standing !== "waiting";
  };

  const host: PoolHost = {
    facts({ id, jobDigest }: WaitingEntry) {
      const isOwner = !isStranger(id);
      if (!isOwner && !byId.has(id) && !strangers.has(id)) {
        if (strangers.size >= STRANGERS_MAX) strangers.clear();
        strangers.add(id);
        parts.onStranger();
      }
      // A run goes on under the configuration in force, and a changed one is no reason not to (13.3).
      const job = { digest: jobDigest, isEnabled: true };
      return { host: parts.host, job, isOwner, isPaused: false, isForbidden: false };
    },
    admitted(pool, { id }) {
      const ticket = inPool(pool, id);
      if (ticket === undefined || isStranger(id)) {
        pools()?.released(pool, id);
        return;
      }
      ticket.standing = { kind: "admitted" };
      onNews(ticket.run);
    },
    lost(pool, { id }) {
      const ticket = inPool(pool, id);
      if (ticket === undefined) return;
      const { run, runId, claim, name, standing } = ticket;
      if (standing.kind !== "claimed") {
        drop(ticket, false);
        onNews(run);
        return;
      }
      log.warning(`pool ${pool}: the claim of task ${name} ran out; its process here is stopped`);
      retire(ticket);
      parts.onLost(run, runId, claim);
    },
    left(pool, { id, state, reason }) {
      const ticket = inPool(pool, id);
      if (ticket === undefined || isStranger(id)) return;
      if (state !== "done") return refuse(ticket, reason);
      drop(ticket, false);
      onNews(ticket.run);
    },
  };

  return {
    host,
    admitted(run, runId) {
      const found = ticketsOf(run).filter((ticket) => ticket.runId === runId && ticket.standing.kind === "admitted");
      return new Set(found.map(({ claim }) => claimKey(claim)));
    },
    refused: (run, runId, dag) =>
      ticketsOf(run).flatMap(({ claim, standing, ...ticket }) =>
        standing.kind === "refused" && ticket.runId === runId && ticket.pool === poolOf(dag, claim)
          ? [{ claim, reason: standing.reason }]
          : [],
      ),
    passed(run, { document, claims, awaitingAdmission }, dag) {
      const { runId } = document;
      const held = new Set<Claim>();
      for (const claim of claims) {
        const ticket = ticketOf(run, runId, claim);
        if (ticket?.standing.kind !== "admitted") continue;
        ticket.standing = { kind: "claimed" };
        held.add(claim);
      }
      for (const ticket of ticketsOf(run))
        if (ticket.standing.kind !== "claimed" && !stillWaits(ticket, document, dag)) retire(ticket); // L3
      for (const claim of parts.isDraining() ? [] : awaitingAdmission) {
        const job = graphOf(dag).byId.get(claim.taskId)?.job ?? null;
        if (job !== null && ticketOf(run, runId, claim) === undefined) ask(run, runId, claim, job);
      }
      if (document.state !== "running") hush(run);
      const mayLaunch = claims.filter((claim) => held.has(claim) || poolOf(dag, claim) === null);
      if (mayLaunch.length < claims.length) onNews(run); // their slots were lost meanwhile; the next pass releases them
      return mayLaunch;
    },
    putBack(run) {
      for (const ticket of ticketsOf(run)) if (ticket.standing.kind === "admitted") giveBack(ticket);
    },
    retireAll(run) {
      for (const ticket of ticketsOf(run)) if (ticket.standing.kind !== "claimed") retire(ticket);
      hush(run);
    },
    letGo(run) {
      for (const ticket of ticketsOf(run)) leave(ticket);
      hush(run);
    },
    letAllGo() {
      for (const ticket of [...byId.values()]) leave(ticket);
    },
    ended(run, runId, claim) {
      const ticket = ticketOf(run, runId, claim);
      if (ticket?.standing.kind !== "claimed") return;
      drop(ticket, false);
      pools()?.completed(ticket.pool, ticket.id);
    },
    notLaunched(run, runId, claim) {
      const ticket = ticketOf(run, runId, claim);
      if (ticket?.standing.kind === "claimed") giveBack(ticket);
    },
    knows: (id) => byId.has(id),
  };
}

const noState: Enqueued = { kind: "unavailable", why: "there is no state section" };

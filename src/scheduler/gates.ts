import { slotUndecidedMessage } from "../cluster/slots/messages.ts";
import type { ClusterSlots } from "../cluster/slots/slots.ts";
import { jobDigest } from "../config/fingerprint.ts";
import type { JobConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Journal } from "../journal/journal.ts";
import { judgePast, type Past, type PastFacts } from "../journal/ledger/past.rules.ts";
import type { UnavailablePolicy } from "../journal/unavailable.rules.ts";
import { whenUnavailable } from "../journal/unavailable.rules.ts";
import type { BootAnswer, RetryAnswer, SlotVerdict } from "./job-state.ts";

/** The slots of jobs with `concurrencyScope: cluster`, as starts and their ends use them. */
export type SlotKeeper = Pick<ClusterSlots, "claim" | "release" | "pursue">;

/** The questions a start has to wait for. Each is answered exactly once, within the bounds of the store's operations. */
export interface Gates {
  /** `onlyIfLastSucceeded`; from memory alone without a store, and then at once. */
  past(job: JobConfig, facts: () => PastFacts, answer: (past: Past) => void): void;
  boot(job: JobConfig, answer: (boot: BootAnswer) => void): void;
  /** `moves`: the retry may be taken over by another node. */
  retry(job: JobConfig, attempt: number, moves: boolean, answer: (retry: RetryAnswer) => void): void;
  slot(job: JobConfig, answer: (slot: SlotVerdict & { readonly fresh: boolean }) => void): void;
}

export function createGates(parts: {
  readonly journal: () => Journal | null;
  readonly slots: () => SlotKeeper | null;
  readonly policy: () => UnavailablePolicy;
  readonly log: Logger;
}): Gates {
  const { slots, policy, log } = parts;

  /** Nobody can tell whose the slot is; what that does to the start is in the table. */
  const withoutSlot = ({ name }: JobConfig, because: string): SlotVerdict & { readonly fresh: boolean } => {
    log.warning(slotUndecidedMessage(name, because, policy()));
    if (whenUnavailable["cluster slot"][policy()] === "skip")
      return { kind: "refused", because: "the cluster slot", fresh: false };
    return { kind: "go", leased: false, fresh: false };
  };

  return {
    past(job, facts, answer) {
      const journal = parts.journal();
      if (journal === null) answer(judgePast(facts(), { kind: "none kept" }, "degrade"));
      else void journal.askPast(job.name, facts).then(answer);
    },
    boot(job, answer) {
      const journal = parts.journal();
      if (journal === null) {
        answer("run"); // once per start of the daemon (BOO-1)
        return;
      }
      void journal.bootGate
        .admit(job.name, jobDigest(job))
        .then((verdict) => answer(verdict.kind === "run" ? "run" : verdict.because));
    },
    retry(job, attempt, moves, answer) {
      const journal = parts.journal();
      if (journal === null) answer({ kind: "launch" });
      else void journal.consumeRetry(job.name, attempt, moves).then(answer);
    },
    slot(job, answer) {
      const keeper = slots();
      if (keeper === null) {
        answer(withoutSlot(job, "there is no state section"));
        return;
      }
      void keeper.claim(job.name).then((claimed) => {
        if (claimed.kind === "held") answer({ kind: "go", leased: true, fresh: claimed.fresh });
        else if (claimed.kind === "taken") answer({ ...claimed, fresh: false });
        else answer(withoutSlot(job, claimed.because));
      });
    },
  };
}

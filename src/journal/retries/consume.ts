import type { Logger } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Backend } from "../backend.ts";
import { failureText } from "../drops.ts";
import type { DaemonProcess } from "../inflight/inflight-record.ts";
import { OPERATION_DEADLINE_MS } from "../limits.ts";
import { type UnavailablePolicy, whenUnavailable } from "../unavailable.rules.ts";
import type { Written } from "../write-queue.ts";
import { type Claim, takeClaim } from "./claim-lease.ts";
import { launchOwner } from "./retry.rules.ts";
import type { RetryStream } from "./retry-stream.ts";

/** What a due retry does. */
export type Consumed =
  /** Its record says so already; a crash from here on does not repeat it. */
  | { readonly kind: "launch" }
  /** Stays due; look again after its own delay, at least a second. */
  | { readonly kind: "defer"; readonly because: string }
  /** Another node has taken the sequence and goes on with it: drop it here, and settle nothing. */
  | { readonly kind: "claimed elsewhere"; readonly host: string };

/**
 * Asks the store for a due retry right before its launch: record, then run (RET-3).
 *
 * With `resume` the claim lease is taken first, so that the node and one that wants to claim the retry cannot both run it (RSM-5).
 * `policy` decides where the store does not answer (UNA-1). Bounded at 10 s for each of the lease, the look and the record.
 */
export async function consumeRetry(
  parts: {
    readonly self: DaemonProcess;
    readonly backend: Backend;
    readonly retries: Pick<RetryStream, "newest" | "settled">;
    readonly clock: Clock;
    readonly log: Logger;
  },
  job: string,
  attempt: number,
  { resume, policy }: { readonly resume: boolean; readonly policy: UnavailablePolicy },
): Promise<Consumed> {
  const claim = resume ? await takeClaim(parts.backend, parts.self, job) : null;
  try {
    const barred = claim === null ? null : await whyNot(parts, job, attempt, claim, policy);
    if (barred !== null) return barred;
    const written = await within(parts.clock, parts.retries.settled(job, attempt, "launched"));
    if (written.kind === "done" || whenUnavailable["settle before retry"][policy] === "launch")
      return { kind: "launch" };
    return { kind: "defer", because: written.kind === "shed" ? "too many durable writes wait" : failureText(written) };
  } finally {
    if (claim?.kind === "held") await claim.release();
  }
}

/** Null when nothing stands in the way, or it may be passed over. */
async function whyNot(
  { self, retries, log }: { self: DaemonProcess; retries: Pick<RetryStream, "newest">; log: Logger },
  job: string,
  attempt: number,
  claim: Claim,
  policy: UnavailablePolicy,
): Promise<Exclude<Consumed, { kind: "launch" }> | null> {
  const uncoordinated = (because: string): (Consumed & { kind: "defer" }) | null =>
    whenUnavailable["coordinate retry"][policy] === "launch" ? null : { kind: "defer", because };
  if (claim.kind === "denied") return { kind: "defer", because: `${claim.holder} is claiming it` };
  if (claim.kind === "unknown") return uncoordinated(claim.because);
  const newest = await retries.newest(job);
  if (newest.kind !== "done") return uncoordinated(failureText(newest));
  const owner = launchOwner(newest.value?.record ?? null, self.host);
  if (owner === "ours") return null;
  log.warning(
    `Job ${job} retry #${attempt} dropped: another node claimed this retry ladder (cross-node retry resume); it fires there`,
  );
  return { kind: "claimed elsewhere", host: owner.foreign };
}

/** The job's earlier writes come first, and a chain of slow ones must not hold the retry for longer than one of them may take. */
function within(clock: Clock, written: Promise<Written>): Promise<Written> {
  return new Promise((resolve) => {
    const cancel = clock.after(OPERATION_DEADLINE_MS, () =>
      resolve({ kind: "unknown", because: `not written within ${OPERATION_DEADLINE_MS / 1000} s` }),
    );
    void written.then((outcome) => {
      cancel();
      resolve(outcome);
    });
  });
}

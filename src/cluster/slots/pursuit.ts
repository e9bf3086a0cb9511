import type { Logger } from "../../contract/log.ts";
import { type Backend, onBackend } from "../../journal/backend.ts";
import type { DaemonProcess } from "../../journal/inflight/inflight-record.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Lease } from "../../store/store.ts";
import { SLOT_PERIOD_MIN_MS } from "../limits.ts";
import { notYieldedMessage } from "./messages.ts";
import { isLive, readHolder } from "./slot-lease.ts";
import { requestYield } from "./yield-request.ts";

/** "free": a claim may win now. "gave up": it did not come free in time, or the pursuit was ended. */
export type PursuitOutcome = "free" | "gave up";

export interface Pursuit {
  readonly outcome: Promise<PursuitOutcome>;
  /** Gives up at once, without a word. */
  end(): void;
}

/**
 * Replace over the cluster (running 7.5): asks the holder to make way and looks every max(1, TTL/6) s whether it has, for 2×TTL at
 * most. The request names the tenure that was found first; what does not land is written again at the next look.
 */
export function startPursuit(
  parts: {
    readonly self: DaemonProcess;
    readonly backend: Backend;
    readonly clock: Clock;
    readonly log: Logger;
  },
  job: string,
  { holder, ttlMs }: { readonly holder: string; readonly ttlMs: number },
): Pursuit {
  const { self, backend, clock, log } = parts;
  const everyMs = Math.max(SLOT_PERIOD_MIN_MS, ttlMs / 6);
  const withinMs = 2 * ttlMs;
  let found: Lease | null = null;
  let requested = false;
  let over = false;
  let cancelLook = (): void => undefined;
  let settle: (outcome: PursuitOutcome) => void = () => undefined;
  const outcome = new Promise<PursuitOutcome>((resolve) => {
    settle = resolve;
  });

  const finish = (how: PursuitOutcome): void => {
    over = true;
    cancelLook();
    cancelPatience();
    settle(how);
  };

  const cancelPatience = clock.after(withinMs, () => {
    log.warning(notYieldedMessage(job, found?.holder ?? null, withinMs / 1000));
    finish("gave up");
  });

  const look = async (): Promise<void> => {
    const askedAtMs = clock.elapsedNow();
    const now = await onBackend(backend, ({ leases }) => readHolder(leases, job));
    if (over) return;
    if (now.kind === "done") {
      const by = now.value;
      if (by === null || by.holder === holder || !isLive(by, clock)) return finish("free");
      found ??= by;
      if (!requested) await request(found.fence);
      if (over) return;
    }
    cancelLook = clock.after(askedAtMs + everyMs - clock.elapsedNow(), () => void look());
  };

  const request = async (fence: number): Promise<void> => {
    const written = await requestYield({ backend, clock }, job, { fence, by: self.host });
    requested = written.kind === "done";
  };

  void look();
  return {
    outcome,
    end() {
      if (!over) finish("gave up");
    },
  };
}

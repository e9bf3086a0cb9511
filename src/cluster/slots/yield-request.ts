import { z } from "zod";
import { type Backend, onBackend } from "../../journal/backend.ts";
import { isoInstant } from "../../journal/instant.ts";
import { portableText } from "../../journal/record-codec.ts";
import type { Clock } from "../../platform/clock.ts";
import { plainJson } from "../../store/json.ts";
import type { Outcome } from "../../store/store.ts";
import { SLOT_OPERATION_DEADLINE_MS, YIELD_REQUESTS_KEPT } from "../limits.ts";

/*
 * A node asks the holder of a slot to make way by a record of stream `slots/<job>` (LSE-6): `{"kind": "cancel", "fence", "by", "at"}`.
 * The fence names the one tenure that is meant, so a request that comes late moves nobody.
 */

const wire = z.object({ kind: z.literal("cancel"), fence: z.int() });

/** The name of both the lease and the stream of requests. */
export const slotName = (job: string): string => `slots/${job}`;

export function requestYield(
  { backend, clock }: { readonly backend: Backend; readonly clock: Clock },
  job: string,
  { fence, by }: { readonly fence: number; readonly by: string },
): Promise<Outcome<unknown>> {
  const body = { kind: "cancel", fence, by: portableText(by), at: isoInstant(clock.wallNow()) };
  return onBackend(backend, ({ records }) =>
    records.append(slotName(job), body, { keep: YIELD_REQUESTS_KEPT, deadlineMs: SLOT_OPERATION_DEADLINE_MS }),
  );
}

/** Whether somebody has asked the holder with this fence to make way; in doubt no. */
export async function isYieldRequested(backend: Backend, job: string, fence: number): Promise<boolean> {
  const listed = await onBackend(backend, ({ records }) =>
    records.list(slotName(job), {
      order: "newest first",
      limit: YIELD_REQUESTS_KEPT,
      reading: "tolerant",
      deadlineMs: SLOT_OPERATION_DEADLINE_MS,
    }),
  );
  if (listed.kind !== "done") return false;
  return listed.value.some(({ data }) => {
    const request = wire.safeParse(plainJson(data));
    return request.success && request.data.fence === fence;
  });
}

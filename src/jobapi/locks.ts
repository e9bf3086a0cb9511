import type { JsonObject, JsonValue } from "../store/json.ts";
import { JsonFloat, jsonFloat } from "../store/json.ts";
import { json, type Routes } from "./call.ts";
import { LOCK_TTL_SECONDS, PERMITS_MAX } from "./limits.ts";
import type { LockKeeper } from "./lock-keeper.ts";
import { numberOf } from "./numbers.ts";
import { Refusal } from "./refusal.ts";
import { requiredText } from "./request-fields.ts";
import { allowedScope } from "./scopes.ts";

/** Mutexes and semaphores (LOK-1 to LOK-4). */
export function lockRoutes(keeper: LockKeeper, defaultTtlSeconds: number): Routes {
  return {
    "/v1/lock/acquire": {
      method: "POST",
      async handle(call) {
        const { values } = await call.fields();
        const name = requiredText(values.name, "name");
        const scope = allowedScope(call.run, values.scope);
        const permits = permitsOf(values.permits ?? 1);
        const { ttlSeconds, blockSeconds } = secondsOf(values, defaultTtlSeconds);
        const blockMs = values.wait === true ? Math.max(0, blockSeconds) * 1000 : 0;
        const wish = { scope, name, permits, ttlMs: ttlSeconds * 1000, blockMs };
        const answer = await keeper.acquire(call.run, wish, call.hungUp);
        if (answer.kind === "taken") return json({ acquired: false });
        if (answer.kind === "run ended") return json({ acquired: false, runEnded: true });
        const { token, permit: slot, fence } = answer;
        // A client that goes before it has read its token would leave the lock held until the run ends.
        call.hungUp.onTrip(() => void keeper.release(call.run.runId, token));
        return json({ acquired: true, token, slot, fence, ttl: jsonFloat(ttlSeconds) });
      },
    },
    "/v1/lock/release": {
      method: "POST",
      async handle(call) {
        const { values } = await call.fields();
        const token = requiredText(values.token, "token");
        return json({ released: await keeper.release(call.run.runId, token) });
      },
    },
  };
}

function permitsOf(permits: JsonValue): number {
  if (permits instanceof JsonFloat || !Number.isInteger(numberOf(permits)))
    throw new Refusal(400, "permits must be an integer");
  const count = Number(permits);
  if (count < 1) throw new Refusal(400, "permits must be >= 1");
  if (count > PERMITS_MAX) throw new Refusal(400, `permits must be <= ${PERMITS_MAX}`);
  return count;
}

function secondsOf(values: JsonObject, defaultTtlSeconds: number): { ttlSeconds: number; blockSeconds: number } {
  const ttl = numberOf(values.ttl ?? defaultTtlSeconds);
  const blockSeconds = numberOf(values.blockSeconds ?? 0);
  if (ttl === null || blockSeconds === null) throw new Refusal(400, "ttl and blockSeconds must be numbers");
  if (!Number.isFinite(ttl)) throw new Refusal(400, "ttl must be a finite number");
  const { least, most } = LOCK_TTL_SECONDS;
  return { ttlSeconds: Math.min(most, Math.max(least, ttl)), blockSeconds };
}

import type { PoolConfig } from "../config/model.ts";
import { type PoolDocument, poolDocument } from "../contract/pool.ts";
import { type Backend, onBackend } from "../journal/backend.ts";
import { failureText } from "../journal/drops.ts";
import type { LockTrust } from "../journal/lock-trust.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { type JsonObject, plainJson } from "../store/json.ts";
import type { Change, Outcome } from "../store/store.ts";
import { POOL_OPERATION_DEADLINE_MS } from "./limits.ts";
import { emptyPool } from "./pool-document.rules.ts";
import type { Step } from "./pools.rules.ts";

/** Why there is no answer about a pool. */
export type PoolTrouble =
  /** It must not be used as it is. */
  | { readonly kind: "refused"; readonly why: string }
  /** It cannot be read or written now. `mayHaveLanded`: what was to be written may be there all the same. */
  | { readonly kind: "unavailable"; readonly why: string; readonly mayHaveLanded: boolean };

/** The documents of pools in the store: namespace `pool`, one for each (running 19.3). Every operation is bounded at 5 s. */
export interface PoolStore {
  read(pool: PoolConfig): Promise<{ readonly kind: "read"; readonly document: PoolDocument } | PoolTrouble>;
  /** One read-modify-write. `step` is pure, may run several times, and gets the instant of its run. */
  change<A>(
    pool: PoolConfig,
    step: (document: PoolDocument, now: EpochMs) => Step<A>,
  ): Promise<{ readonly kind: "changed"; readonly document: PoolDocument; readonly answer: A } | PoolTrouble>;
}

const NAMESPACE = "pool";
const patience = { deadlineMs: POOL_OPERATION_DEADLINE_MS };

export function createPoolStore(parts: {
  readonly backend: Backend;
  readonly locks: LockTrust;
  readonly clock: Clock;
}): PoolStore {
  const { backend, locks, clock } = parts;
  /** What was read last, by pool: most looks at a queue find it as it was. */
  const known = new Map<string, { readonly version: string; readonly document: PoolDocument }>();

  return {
    async read(pool) {
      const found = await onBackend(backend, ({ documents }) => documents.read(NAMESPACE, pool.name, patience));
      if (found.kind !== "done") return unavailable(found);
      const { body, version } = found.value;
      const last = known.get(pool.name);
      if (last !== undefined && last.version === version) return { kind: "read", document: last.document };
      const document = decode(pool, body);
      if (document === null) return unreadable;
      if (version !== null) known.set(pool.name, { version, document });
      return { kind: "read", document };
    },
    async change(pool, step) {
      if ((await locks.distrust()) !== null)
        return { kind: "refused", why: "pool state requires reliable exclusive locks" };
      type Answer = ReturnType<typeof step> | null;
      const written = await onBackend(backend, ({ documents }) =>
        documents.mutate<Answer>(
          NAMESPACE,
          pool.name,
          (body): Change<Answer> => {
            const before = decode(pool, body);
            if (before === null) return { kind: "keep", answer: null };
            const after = step(before, clock.wallNow());
            return { kind: "put", body: after.document, answer: after };
          },
          patience,
        ),
      );
      if (written.kind !== "done") return unavailable(written);
      return written.value === null ? unreadable : { kind: "changed", ...written.value };
    },
  };
}

const unreadable: PoolTrouble = { kind: "unavailable", why: "its document is unreadable", mayHaveLanded: false };

function unavailable(outcome: Exclude<Outcome<unknown>, { kind: "done" }>): PoolTrouble {
  return { kind: "unavailable", why: failureText(outcome), mayHaveLanded: outcome.kind === "unknown" };
}

/** Null for what is no pool's document; nothing is then written over it. */
function decode(pool: PoolConfig, body: JsonObject | null): PoolDocument | null {
  if (body === null) return emptyPool(pool);
  const parsed = poolDocument.safeParse(plainJson(body));
  return parsed.success ? parsed.data : null;
}

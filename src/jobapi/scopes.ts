import type { JsonValue } from "../store/json.ts";
import { Refusal } from "./refusal.ts";
import type { RunSession } from "./run-sessions.ts";

/** The scope every job may use, for what jobs share on purpose. */
const GLOBAL_SCOPE = "global";

/**
 * The scope a request acts in: the run's own when none is named, `global`, or one that its job may use (SCO-1). Matched exactly,
 * never trimmed (SCO-2).
 *
 * @throws Refusal
 */
export function allowedScope(run: RunSession, asked: JsonValue | undefined): string {
  if (asked === undefined || asked === null || asked === "") return run.defaultScope;
  if (typeof asked !== "string") throw new Refusal(400, "scope must be a string");
  if (asked.trim() !== asked)
    throw new Refusal(400, "scope must not be blank and must not begin or end with white space");
  if (asked === run.defaultScope || asked === GLOBAL_SCOPE || run.allowedScopes.has(asked)) return asked;
  throw new Refusal(
    403,
    `scope '${asked}' is not permitted for job '${run.job}'; add it to stateAllowedScopes to allow this job to use it`,
  );
}

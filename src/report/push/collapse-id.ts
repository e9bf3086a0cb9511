import { createHash } from "node:crypto";
import type { Payload } from "./payload.rules.ts";

const IDENTITY = ["dag", "event", "kind", "name", "run_id", "run_key", "sla_check", "taskkey"];

/**
 * Under which a phone folds the same alert sent by several nodes into one (running 12.5): 32 hex digits that tell the relay nothing
 * without the salt.
 */
export function collapseId(payload: Payload, salt: string): string {
  const parts = IDENTITY.filter((name) => payload[name] !== undefined && payload[name] !== "");
  const json = JSON.stringify(Object.fromEntries(parts.map((name) => [name, payload[name]])));
  const ascii = json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return createHash("sha256").update(salt).update("\0").update(ascii).digest("hex").slice(0, 32);
}

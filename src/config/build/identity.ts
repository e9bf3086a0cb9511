/** User and group of a job (6.4, running 1.4). */

import { quoted } from "../../schedule/schedule-error.ts";
import type { LoadFacts } from "../facts.ts";
import type { Identity } from "../model.ts";
import type { JobDefaults } from "../options/job.ts";
import type { Subject } from "../subject.ts";

/**
 * Who the job runs as: null for the daemon's own identity, "refused" when problems were told. The host's databases are asked only
 * for what the job names.
 */
export function identityOf(
  name: string,
  configured: Pick<JobDefaults, "user" | "group">,
  facts: LoadFacts,
  subject: Subject,
): Identity | null | "refused" {
  const { user, group } = { user: configured.user ?? null, group: configured.group ?? null };
  if (user === null && group === null) return null;
  const named = user === null ? "group" : "user";
  if (facts.platform === "windows") {
    subject.problem([named], `Job ${name}: changing user/group is not supported on Windows`);
    return "refused";
  }
  const asUser =
    typeof user === "string" ? facts.users.userByName(user) : user === null ? null : facts.users.userById(user);
  const asGroup = typeof group === "string" ? facts.users.groupByName(group) : null;
  // A number need not be in the databases, but it must be one an id can be.
  const unknownUser = typeof user === "string" ? asUser === null : user !== null && !isId(user);
  const unknownGroup = typeof group === "string" ? asGroup === null : group !== null && !isId(group);
  if (unknownUser) subject.problem(["user"], `User not found: ${quoted(String(user))}`);
  if (unknownGroup) subject.problem(["group"], `Group not found: ${quoted(String(group))}`);
  if (unknownUser || unknownGroup) return "refused";
  if (!facts.superuser) {
    subject.problem([named], `Job ${name} wants to change user or group, but cronstable is not running as superuser`);
    return "refused";
  }
  return {
    user,
    group,
    uid: typeof user === "number" ? user : (asUser?.uid ?? null),
    gid: typeof group === "number" ? group : (asGroup?.gid ?? asUser?.gid ?? null),
    login: asUser?.name ?? null,
  };
}

/** The largest id is no id: system calls take it for "leave as it is". */
function isId(id: number): boolean {
  return id >= 0 && id < 2 ** 32 - 1;
}

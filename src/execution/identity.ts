import { realpathSync } from "node:fs";
import type { Identity } from "../config/model.ts";
import { findExecutable } from "../platform/spawn/executable.ts";

/** Linux takes ids up to this; the next one means "leave as it is". */
const ID_MAX = 2 ** 32 - 2;

/** Where setpriv is looked for when the daemon's PATH lacks it. */
const SYSTEM_DIRECTORIES = "/usr/bin:/bin:/usr/sbin:/sbin";

/** What goes before an argv so that it runs as somebody else, or with another umask. */
export type ArgvPrefix =
  | { readonly kind: "prefix"; readonly argv: readonly string[] }
  | { readonly kind: "impossible"; readonly why: string };

/**
 * The chain of programs that each change one thing about themselves and then become the next: what a start by posix_spawn cannot do
 * itself (DESIGN idea 10). The identity comes before the umask, and after the working directory (running 1.4).
 *
 * @param path the daemon's PATH
 */
export function identityPrefix(
  { identity, umask }: { readonly identity: Identity | null; readonly umask: number | null },
  path: string | undefined,
): ArgvPrefix {
  // In `sh -c` the first argument after the script is $0.
  const umaskPrefix =
    umask === null ? [] : ["/bin/sh", "-c", 'umask "$0" && exec "$@"', umask.toString(8).padStart(4, "0")];
  if (identity === null || (identity.uid === null && identity.gid === null))
    return { kind: "prefix", argv: umaskPrefix };
  const problem = problemOfId("user", identity.uid) ?? problemOfId("group", identity.gid);
  if (problem !== null) return { kind: "impossible", why: problem };
  const setpriv = findSetpriv(path);
  if (setpriv === null) {
    const why =
      "to run as another user or group the program setpriv is needed, and it is not in PATH (BusyBox's cannot do it); install util-linux";
    return { kind: "impossible", why };
  }
  return { kind: "prefix", argv: [setpriv, ...identityOptions(identity), "--", ...umaskPrefix] };
}

function identityOptions({ uid, gid, login }: Identity): string[] {
  // By login where it is known: two logins may share an id and have different groups.
  const user = uid === null ? [] : [`--reuid=${login ?? uid}`];
  const group = gid === null ? [] : [`--regid=${gid}`];
  const supplementary = uid !== null && login !== null && gid !== null ? "--init-groups" : "--clear-groups";
  return [...user, ...group, supplementary];
}

function problemOfId(what: string, id: number | null): string | null {
  return id === null || (id >= 0 && id <= ID_MAX) ? null : `${what} id ${id} is not one from 0 to ${ID_MAX}`;
}

function findSetpriv(path: string | undefined): string | null {
  const file = findExecutable(
    "setpriv",
    path === undefined ? SYSTEM_DIRECTORIES : `${path}:${SYSTEM_DIRECTORIES}`,
    null,
  );
  return file === null || realpathSync(file).endsWith("/busybox") ? null : file;
}

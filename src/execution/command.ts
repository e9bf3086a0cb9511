import type { Command, LaunchConfig } from "../config/model.ts";
import { findExecutable } from "../platform/spawn/executable.ts";
import { LOGGED_COMMAND_CHARACTERS_MAX } from "./limits.ts";

/** Program and arguments of a command (running 1.2): a text goes to a shell, a list is run as it is. */
export function argvOf(command: Command, shell: string): readonly string[] {
  if (typeof command !== "string") return command;
  return [shell === "" ? "/bin/sh" : shell, "-c", command];
}

/** What goes before an argv so that it runs as somebody else, or with another umask. */
export type ArgvPrefix =
  | { readonly kind: "prefix"; readonly argv: readonly string[] }
  | { readonly kind: "impossible"; readonly why: string };

/**
 * The chain of programs that each change one thing about themselves and then become the next: what a start by posix_spawn cannot do
 * itself (DESIGN idea 10). The identity comes before the umask, and after the working directory (running 1.4).
 */
export function identityPrefix(
  { identity, umask }: Pick<LaunchConfig, "identity" | "umask">,
  path: string | undefined,
): ArgvPrefix {
  const argv: string[] = [];
  if (identity !== null && (identity.uid !== null || identity.gid !== null)) {
    if (findExecutable("setpriv", path, null) === null) {
      const why =
        "to run as another user or group the program setpriv is needed, and it is not in PATH; install util-linux";
      return { kind: "impossible", why };
    }
    argv.push("setpriv");
    if (identity.uid !== null) argv.push(`--reuid=${identity.uid}`);
    if (identity.gid !== null) argv.push(`--regid=${identity.gid}`);
    // Supplementary groups are those of the login, and none where there is no login.
    argv.push(identity.login !== null && identity.gid !== null ? "--init-groups" : "--clear-groups", "--");
  }
  if (umask !== null) argv.push("/bin/sh", "-c", `umask ${umask.toString(8).padStart(3, "0")} && exec "$@"`, "sh");
  return { kind: "prefix", argv };
}

/** A command for a log line: quoted, and not without end. */
export function loggedCommand(argv: readonly string[]): string {
  const text = JSON.stringify(argv);
  return text.length <= LOGGED_COMMAND_CHARACTERS_MAX ? text : `${text.slice(0, LOGGED_COMMAND_CHARACTERS_MAX)}… (cut)`;
}

/** Users and groups of this host. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface UserEntry {
  readonly name: string;
  readonly uid: number;
  /** Primary group. */
  readonly gid: number;
  readonly home: string;
}

export interface GroupEntry {
  readonly name: string;
  readonly gid: number;
}

/** Looks users and groups up; null: there is none of that name or id. */
export interface UserDatabase {
  userByName(name: string): UserEntry | null;
  userById(uid: number): UserEntry | null;
  groupByName(name: string): GroupEntry | null;
}

/** Where to look. `getent` asks the host's name services (LDAP, SSSD, …) for what the files do not hold; null: the files are all. */
export interface UserSources {
  readonly passwdFile: string;
  readonly groupFile: string;
  readonly getent: string | null;
}

/** A directory server that does not answer must not hold up a load for longer. */
const getentTimeoutMs = 5_000;

const hostSources: UserSources = { passwdFile: "/etc/passwd", groupFile: "/etc/group", getent: "getent" };

/**
 * The database as it is now; the files are read when first needed, so a configuration that names no user costs nothing. What it has
 * answered it keeps, so make one per load.
 */
export function userDatabase(sources: UserSources = hostSources): UserDatabase {
  const users = lookup("passwd", sources.passwdFile, sources.getent, userOf);
  const groups = lookup("group", sources.groupFile, sources.getent, groupOf);
  return {
    userByName: (name) => users(name, (user) => user.name === name),
    userById: (uid) => users(String(uid), (user) => user.uid === uid),
    groupByName: (name) => groups(name, (group) => group.name === name),
  };
}

function lookup<T>(
  table: "passwd" | "group",
  file: string,
  getent: string | null,
  entryOf: (line: string) => T | null,
): (key: string, wanted: (entry: T) => boolean) => T | null {
  let local: readonly T[] | null = null;
  const remote = new Map<string, T | null>();
  return (key, wanted) => {
    local ??= entries(contentOf(file), entryOf);
    const found = local.find(wanted);
    if (found !== undefined || getent === null) return found ?? null;
    const known = remote.get(key);
    if (known !== undefined) return known;
    const asked = entries(answerOf(getent, table, key), entryOf).find(wanted) ?? null;
    remote.set(key, asked);
    return asked;
  };
}

function entries<T>(text: string, entryOf: (line: string) => T | null): readonly T[] {
  return text
    .split("\n")
    .map(entryOf)
    .filter((entry) => entry !== null);
}

/** A host without the file has no local entries. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}

/** Empty when there is no such entry, no `getent`, or no answer in time. */
function answerOf(getent: string, table: string, key: string): string {
  if (key === "" || key.startsWith("-") || key.includes("\0")) return "";
  const { status, stdout } = spawnSync(getent, [table, key], { encoding: "utf8", timeout: getentTimeoutMs });
  return status === 0 ? stdout : "";
}

function userOf(line: string): UserEntry | null {
  const [name = "", , uid = "", gid = "", , home = ""] = line.split(":");
  return isId(uid) && isId(gid) ? { name, uid: Number(uid), gid: Number(gid), home } : null;
}

function groupOf(line: string): GroupEntry | null {
  const [name = "", , gid = ""] = line.split(":");
  return isId(gid) ? { name, gid: Number(gid) } : null;
}

function isId(text: string): boolean {
  return /^[0-9]+$/.test(text);
}

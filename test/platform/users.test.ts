import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { userDatabase } from "../../src/platform/users.ts";

const passwd = `root:x:0:0:root:/root:/bin/bash
# comment
+::::::
broken:x:one:2::/:/bin/sh
alice:x:1000:1001:Alice:/home/alice:/bin/sh
`;
const group = "root:x:0:\nstaff:x:50:alice,bob\n";

/** A host whose name services answer as this script does. */
function host(getentScript: string | null) {
  const directory = mkdtempSync(join(tmpdir(), "cronstable-users-"));
  const file = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  const getent = getentScript === null ? null : file("getent", `#!/bin/sh\n${getentScript}\n`);
  if (getent !== null) chmodSync(getent, 0o755);
  return userDatabase({ passwdFile: file("passwd", passwd), groupFile: file("group", group), getent });
}

test("users and groups are found in the host's files", () => {
  const users = host(null);
  expect(users.userByName("alice")).toEqual({ name: "alice", uid: 1000, gid: 1001, home: "/home/alice" });
  expect(users.userById(1000)?.name).toBe("alice");
  expect(users.groupByName("staff")).toEqual({ name: "staff", gid: 50 });
  expect([users.userByName("broken"), users.userByName(""), users.userById(7), users.groupByName("alice")]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test("what the files do not hold is asked of the name services", () => {
  const users = host(`case "$1 $2" in
    "passwd ldap") echo "ldap:*:5000:5000::/home/ldap:/bin/sh" ;;
    "passwd 5000") echo "ldap:*:5000:5000::/home/ldap:/bin/sh" ;;
    "group ldap") echo "ldap:*:5000:" ;;
    *) exit 2 ;;
  esac`);
  expect(users.userByName("ldap")).toMatchObject({ uid: 5000 });
  expect(users.userById(5000)).toMatchObject({ name: "ldap" });
  expect(users.groupByName("ldap")).toEqual({ name: "ldap", gid: 5000 });
  expect(users.userByName("nobody-here")).toBeNull();
});

test("a name service that answers for another name is not believed", () => {
  expect(host('echo "other:*:5000:5000::/:/bin/sh"').userByName("ldap")).toBeNull();
});

test("names that are options or no names are not asked for", () => {
  const users = host("exit 0");
  expect([users.userByName("-s"), users.userByName("a\0b")]).toEqual([null, null]);
});

test("a host without files or name services has no users", () => {
  const users = userDatabase({ passwdFile: "/nowhere/passwd", groupFile: "/nowhere/group", getent: "/nowhere/getent" });
  expect([users.userByName("root"), users.groupByName("root")]).toEqual([null, null]);
});

test("this host knows root", () => {
  expect(userDatabase().userById(0)).toMatchObject({ name: "root", uid: 0, gid: 0 });
});

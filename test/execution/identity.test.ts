import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Identity } from "../../src/config/model.ts";
import { identityPrefix } from "../../src/execution/identity.ts";

let folder: string;
let setpriv: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cronstable-identity-"));
  setpriv = join(folder, "setpriv");
  writeFileSync(setpriv, "#!/bin/sh\n", { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true }));

const who = (over: Partial<Identity>): Identity => ({
  user: null,
  group: null,
  uid: null,
  gid: null,
  login: null,
  ...over,
});

test("a job of the daemon's user needs nothing", () => {
  expect(identityPrefix({ identity: null, umask: null }, folder)).toEqual({ kind: "prefix", argv: [] });
});

test.each([
  ["a login", { uid: 1000, gid: 100, login: "ann" }, ["--reuid=ann", "--regid=100", "--init-groups"]],
  ["a uid without a name", { uid: 4711 }, ["--reuid=4711", "--clear-groups"]],
  ["a uid without a name, and a group", { uid: 4711, gid: 5 }, ["--reuid=4711", "--regid=5", "--clear-groups"]],
  ["a group alone", { gid: 5 }, ["--regid=5", "--clear-groups"]],
])("%s", (_, identity, options) => {
  expect(identityPrefix({ identity: who(identity), umask: null }, folder)).toEqual({
    kind: "prefix",
    argv: [setpriv, ...options, "--"],
  });
});

test("the umask is set after the identity", () => {
  const prefix = identityPrefix({ identity: who({ gid: 5 }), umask: 0o27 }, folder);
  const umask = ["/bin/sh", "-c", 'umask "$0" && exec "$@"', "0027"];
  expect(prefix).toEqual({ kind: "prefix", argv: [setpriv, "--regid=5", "--clear-groups", "--", ...umask] });
  expect(identityPrefix({ identity: null, umask: 0 }, folder)).toEqual({
    kind: "prefix",
    argv: ["/bin/sh", "-c", 'umask "$0" && exec "$@"', "0000"],
  });
});

test("a setpriv that is BusyBox is none", () => {
  const busybox = mkdtempSync(join(tmpdir(), "cronstable-busybox-"));
  writeFileSync(join(busybox, "busybox"), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync("busybox", join(busybox, "setpriv"));
  expect(identityPrefix({ identity: who({ uid: 1 }), umask: null }, busybox)).toEqual({
    kind: "impossible",
    why: "to run as another user or group the program setpriv is needed, and it is not in PATH (BusyBox's cannot do it); install util-linux",
  });
  rmSync(busybox, { recursive: true });
});

test("an id that no system has", () => {
  expect(identityPrefix({ identity: who({ uid: 2 ** 32 - 1 }), umask: null }, folder)).toEqual({
    kind: "impossible",
    why: "user id 4294967295 is not one from 0 to 4294967294",
  });
});

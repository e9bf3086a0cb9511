import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ownGroup, removeLeftovers, runGroup } from "../../../src/execution/limits/base-group.ts";
import { childGroups, makeGroup, readGroupFile, removeGroup } from "../../../src/platform/cgroup.ts";

/** Soon on an idle machine; long enough for a busy one. */
const SOON = { timeout: 20_000 };

const own = ownGroup();
const place = own.kind === "group" ? join(own.directory, `cronstable-base-${process.pid}`) : "";
const isWritable = own.kind === "group" && makeGroup(place) === null;
const FIXTURE = fileURLToPath(new URL("./standing.fixture.ts", import.meta.url));
const LOADER = fileURLToPath(new URL("../../../scripts/load-typescript.mjs", import.meta.url));

afterEach(async () => {
  if (isWritable) await vi.waitFor(() => expect(removeGroup(place)).toBe(true), SOON); // a dead process leaves its group a moment later
});

describe.runIf(isWritable)("the daemon's own group", () => {
  test("is freed for run groups: daemon and bystanders move into a leaf, once", () => {
    makeGroup(place);
    // The shell stays in the group beside its child, as a container's first process does.
    const script = `echo $$ > "$0/cgroup.procs"; "$1" --import "$2" "$3"; true`;
    const answer = execFileSync("/bin/sh", ["-c", script, place, process.execPath, LOADER, FIXTURE], {
      encoding: "utf8",
    });
    const available = readGroupFile(place, "cgroup.controllers") ?? "";
    expect(JSON.parse(answer)).toEqual({
      base: place,
      refused: ["cpu", "memory", "pids"].filter((controller) => !available.split(/\s+/).includes(controller)),
      left: 0,
      after: join(place, "cronstable-daemon"),
      again: place,
    });
  });

  test("is cleared of old groups of runs that are gone, and of nothing else", () => {
    makeGroup(place);
    makeGroup(runGroup(place, "old"));
    mkdirSync(join(place, "somebody-elses"));
    expect(removeLeftovers(place, Date.now())).toEqual([]);
    expect(childGroups(place).sort()).toEqual(["cronstable-run-old", "somebody-elses"]); // may be about to start
    expect(removeLeftovers(place, Date.now() + 120_000)).toEqual([]);
    expect(childGroups(place)).toEqual(["somebody-elses"]);
  });
});

/** A daemon in small: starts where it is put, limits one run, and tells where it, that run's group and the controllers are. */
import { ownGroup, prepareBase } from "../../../src/execution/limits/base-group.ts";
import { groupProcesses } from "../../../src/platform/cgroup.ts";

const before = ownGroup();
const base = prepareBase(before);
const after = ownGroup();
const again = prepareBase(after);
console.log(
  JSON.stringify({
    base: base.kind === "base" ? base.directory : base.why,
    refused: base.kind === "base" ? [...base.refused.keys()] : [],
    left: base.kind === "base" ? groupProcesses(base.directory).length : -1,
    after: after.kind === "group" ? after.directory : after.why,
    again: again.kind === "base" ? again.directory : again.why,
  }),
);

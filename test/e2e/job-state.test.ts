import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cronstable, withFolder } from "../support/daemon-process.ts";

const root = join(import.meta.dirname, "../..");
const example = join(root, "examples/job-state.yaml");

// A daemon that is killed may leave the lock taken; it is free again when its time to live of 30 s has passed.
test("examples/job-state.yaml: what was exported stays exported when the daemon is killed", { timeout: 120_000 }, () =>
  withFolder(async ({ path, write }) => {
    mkdirSync(join(path, "bin"));
    symlinkSync(join(root, "dist/cronstable.cjs"), join(path, "bin/cronstable"));
    const environment = { EXAMPLE_DIR: path, PATH: `${join(path, "bin")}:${process.env.PATH}` };
    write("orders.csv", "1,shoes,89.50\n2,hat,25\n");

    const first = cronstable(["-c", example], environment);
    await first.seen(/exported up to order 2/);
    await first.seen(/Job export-orders exit code 0/);
    first.child.kill("SIGKILL");
    await first.ended;

    write("orders.csv", "1,shoes,89.50\n2,hat,25\n3,coat,140\n");
    const second = cronstable(["-c", example], environment);
    try {
      await second.seen(/exported up to order 3/);
      await second.seen(/Job export-orders exit code 0/);
    } finally {
      second.child.kill("SIGTERM");
    }
    expect(await second.ended).toBe(0);
    expect(readFileSync(join(path, "exported.csv"), "utf8")).toBe("1,shoes,89.50\n2,hat,25\n3,coat,140\n");
    expect(readFileSync(join(path, "digests"), "utf8").split("\n")).toHaveLength(2);
  }),
);

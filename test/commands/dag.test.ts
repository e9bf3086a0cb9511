import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { cronstable, type Folder, type Program, withFolder } from "../support/daemon-process.ts";

const limits = { timeout: 90_000, concurrent: true };

/** Waits until `look` shows this. */
async function shown(look: () => Promise<string>, wanted: string | RegExp): Promise<void> {
  const isThere = (text: string): boolean => (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text));
  await vi.waitUntil(async () => isThere(await look()), { timeout: 60_000, interval: 100 });
}

const config = (path: string): string => `state: {path: ${path}/store}
web: {listen: ["unix://${path}/api.sock"], authToken: {value: s3cret}}
dags:
  - name: deploy it
    tasks:
      - {id: build, command: "true"}
      - {id: agree, type: approval, dependsOn: [build]}
      - {id: ship, command: "true", dependsOn: [agree]}
  - name: flaky
    tasks:
      - {id: fetch, command: "true"}
      - {id: load, command: "test -f ${path}/mended", dependsOn: [fetch]}
      - {id: tell, command: "true", dependsOn: [fetch, load]}
  - {name: daily, schedule: "0 2 * * *", tasks: [{id: only, command: "true"}]}
`;

/** A daemon with workflows and a token, and the command that asks it. */
async function withDaemon(
  use: (dag: (...args: string[]) => Promise<Ended>, path: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder: Folder) => {
    const file = folder.write("dags.yaml", config(folder.path));
    const daemon = folder.start("-c", file);
    await daemon.seen(/web: started listening on unix:/);
    await daemon.seen(/state: filesystem backend ready/);
    await use(async (...args) => {
      const program = folder.start("dag", ...args, "-c", file);
      const code = await program.ended;
      return { code, out: program.stdout(), err: program.stderr() };
    }, folder.path);
  });
}

test("a run is started, looked at, decided and followed to its end from the command line", limits, () =>
  withDaemon(async (dag) => {
    const started = await dag("trigger", "deploy it");
    expect(started).toMatchObject({ code: 0, err: "" });
    const key = started.out.trim();
    expect(key).toMatch(/^manual-[0-9a-f]{12}$/);
    await shown(
      async () => (await dag("show", "deploy it", key)).out,
      `decide it: cronstable dag approve 'deploy it' ${key} agree`,
    );
    expect(await dag("approve", "deploy it", key, "agree", "--by", "ann")).toMatchObject({
      code: 0,
      out: "agree: approved\n",
    });
    const again = await dag("reject", "deploy it", key, "agree");
    expect(again).toMatchObject({ code: 1, err: "cronstable dag: task is not awaiting approval\n" });
    await shown(async () => (await dag("runs", "deploy it")).out, new RegExp(`^${key} +manual +success`, "m"));
    const json = JSON.parse((await dag("show", "deploy it", key, "--json")).out);
    expect(json).toMatchObject({ state: "success", tasks: { agree: { approval: { by: "ann" } } } });
  }),
);

test("past dates are backfilled once, and a run that is waited for gives the exit code", limits, () =>
  withDaemon(async (dag) => {
    const range = ["daily", "--from", "2026-01-01", "--to", "2026-01-02T23:00"];
    expect(await dag("backfill", ...range)).toMatchObject({ code: 0, out: "2 dates, 2 of them new\n" });
    expect(await dag("backfill", ...range)).toMatchObject({ code: 0, out: "2 dates, 0 of them new\n" });
    expect(await dag("trigger", "daily", "--wait")).toMatchObject({ code: 0 });
  }),
);

test("what cannot be done is said, with what to do", limits, () =>
  withFolder(async ({ path, write, start }) => {
    const file = write("dags.yaml", config(path));
    const ended = async (...args: string[]) => {
      const program = start("dag", ...args);
      return { code: await program.ended, err: program.stderr(), out: program.stdout() };
    };
    expect((await ended("validate", "-c", file)).out).toBe(
      "deploy it: 3 tasks in 3 steps, started by hand\n  build, agree, ship\nflaky: 3 tasks in 3 steps, started by hand\n  fetch, load, tell\n  hint: task 'tell': dependsOn 'fetch' says nothing new: 'load' waits for it already\ndaily: 1 task in 1 step, schedule 0 2 * * *\n  only\n",
    );
    expect(await ended("graph", "weekly", "-c", file)).toMatchObject({
      code: 1,
      err: "cronstable dag: dag 'weekly' is not configured; there are: deploy it, flaky, daily\n",
    });
    const nobody = await ended("runs", "daily", "-c", file);
    expect(nobody.code).toBe(1);
    expect(nobody.err).toMatch(
      /^cronstable dag: the daemon cannot be reached at unix:\/\/.*; name another address with --url/,
    );
    expect(await ended("runs", "daily", "--url", "ftp://x")).toMatchObject({ code: 2, out: "" });
    const broken = write(
      "broken.yaml",
      "state: {path: /x}\ndags: [{name: d, tasks: [{id: a, command: x, dependsOn: [a]}]}]\n",
    );
    const refused = await ended("validate", "-c", broken);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toContain("dag 'd': task 'a' dependsOn itself");
    expect(await ended("graph", "daily", "-c", file, "--format", "png")).toMatchObject({ code: 2 });
  }),
);

interface Ended {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

test(
  "a failed run is followed to its failure, and its failed part is run again when that is asked for twice",
  limits,
  () =>
    withDaemon(async (dag, path) => {
      const failed = await dag("trigger", "flaky", "--wait");
      expect(failed.code).toBe(1);
      const key = failed.out.trim();
      expect(failed.err).toContain("load: failed (command exited with code 1)\n");
      expect(failed.err).toMatch(new RegExp(`flaky ${key}: failed\n$`));
      expect(await dag("recover", "flaky", key)).toMatchObject({
        code: 0,
        out: "runs again: load, tell\nreused:     fetch\nnothing is done yet: --yes does it\n",
      });
      expect((await dag("runs", "flaky")).out).not.toContain("recovery");
      writeFileSync(join(path, "mended"), "");
      const recovered = await dag("recover", "flaky", key, "--from-task", "load", "--yes");
      expect(recovered).toMatchObject({ code: 0, out: expect.stringMatching(/^recovery-[0-9a-f]{64}\n$/) });
      const newKey = recovered.out.trim();
      await shown(
        async () => (await dag("show", "flaky", newKey)).out,
        new RegExp(`: success \\(recovery[^]*fetch .*from ${key}\n`),
      );
      expect(await dag("recover", "flaky", newKey)).toMatchObject({
        code: 1,
        err: "cronstable dag: no tasks to recover\n",
      });
      expect((await dag("list")).out).toMatch(/^flaky +by hand +- +3 +2 +success 2/m);
      const wrong = await dag("list", "--token", "wrong");
      expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("give a token with --token") });
    }),
);

test("approval.yaml: whoever follows a run is told how its gate is decided, and sees it end", limits, () =>
  withFolder(async ({ path }) => {
    const file = join(import.meta.dirname, "../../examples/dag/approval.yaml");
    const environment = { EXAMPLE_DIR: path, EXAMPLE_LISTEN: `unix://${path}/api.sock` };
    const programs: Program[] = [];
    const run = (...args: string[]): Program => {
      const program = cronstable(args, environment);
      programs.push(program);
      return program;
    };
    try {
      await run("-c", file).seen(/dags: at work on 1 dag/);
      const following = run("dag", "trigger", "release", "--wait", "--json", "-c", file);
      const [, how = ""] = await following.seen(/sign-off: waits for a decision: cronstable (dag approve .*)\n/);
      expect(await run(...how.split(" "), "--url", `unix://${path}/api.sock`).ended).toBe(0);
      expect(await following.ended).toBe(0);
      expect(JSON.parse(following.stdout())).toMatchObject({ dag: "release", state: "success" });
      expect(following.stderr()).toContain("publish: success\n");
    } finally {
      for (const { child } of programs) child.kill("SIGKILL");
    }
  }),
);

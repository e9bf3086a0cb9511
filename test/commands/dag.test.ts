import { expect, test } from "vitest";
import { drawGraph, layersOf } from "../../src/commands/dag/graph.rules.ts";
import type { DagTaskConfig } from "../../src/config/model.ts";
import { type Folder, type Program, withFolder } from "../support/daemon-process.ts";

function task(id: string, dependsOn: readonly string[] = [], over: Partial<DagTaskConfig> = {}): DagTaskConfig {
  return {
    id,
    type: "task",
    dependsOn,
    triggerRule: "all_success",
    retries: 0,
    retryDelaySeconds: 0,
    expand: null,
    pokeIntervalSeconds: 30,
    pokeTimeoutSeconds: 3600,
    pokeJitterSeconds: 0,
    onReject: "fail",
    job: null,
    ...over,
  };
}

const release = {
  name: "release",
  tasks: [
    task("tidy", ["ship", "check"], { triggerRule: "all_done" }),
    task("build", [], { retries: 2 }),
    task("check", ["build"], { expand: { fromTask: "build", key: "parts" } }),
    task("agree", ["check"], { type: "approval", onReject: "skip" }),
    task('say "go"', ["agree"], { type: "sensor" }),
    task("ship", ['say "go"']),
  ],
};

test("a graph as text has the tasks step by step, with what they wait for and what sets them apart", () => {
  expect(drawGraph(release, "text").join("\n")).toMatchInlineSnapshot(`
    "release
    1.
       build  [2 retries]
    2.
       check <- build  [one per item of build/parts]
    3.
       agree <- check  [approval, a rejection skips]
    4.
       say "go" <- agree  [sensor]
    5.
       ship <- say "go"
    6.
       tidy <- ship, check  [whatever comes of them]"
  `);
});

test("a graph as DOT and as Mermaid has each task once and each edge once, quoted", () => {
  expect(drawGraph(release, "dot").join("\n")).toMatchInlineSnapshot(`
    "digraph "release" {
      rankdir=LR;
      "tidy" [shape=box];
      "build" [shape=box];
      "check" [shape=box, peripheries=2];
      "agree" [shape=diamond];
      "say \\"go\\"" [shape=ellipse];
      "ship" [shape=box];
      "ship" -> "tidy" [style=dashed];
      "check" -> "tidy" [style=dashed];
      "build" -> "check";
      "check" -> "agree";
      "agree" -> "say \\"go\\"";
      "say \\"go\\"" -> "ship";
    }"
  `);
  expect(drawGraph(release, "mermaid").join("\n")).toMatchInlineSnapshot(`
    "flowchart LR
      t0["tidy"]
      t1["build"]
      t2["check × n"]
      t3{"agree"}
      t4(["say &quot;go&quot;"])
      t5["ship"]
      t5 -.-> t0
      t2 -.-> t0
      t1 --> t2
      t2 --> t3
      t3 --> t4
      t4 --> t5"
  `);
});

test("a task stands below all that it waits for, whatever the order in the file", () => {
  const layers = layersOf(release.tasks);
  const stepOf = (id: string): number => layers.findIndex((layer) => layer.some((found) => found.id === id));
  for (const { id, dependsOn } of release.tasks)
    for (const upstream of dependsOn) expect(stepOf(upstream)).toBeLessThan(stepOf(id));
});

const config = (path: string): string => `state: {path: ${path}/store}
web: {listen: ["unix://${path}/api.sock"]}
dags:
  - name: deploy it
    tasks:
      - {id: build, command: "true"}
      - {id: agree, type: approval, dependsOn: [build]}
      - {id: ship, command: "true", dependsOn: [agree]}
  - {name: daily, schedule: "0 2 * * *", tasks: [{id: only, command: "true"}]}
`;

/** A daemon with two workflows, and the command that asks it. */
async function withDaemon(
  use: (
    dag: (...args: string[]) => Promise<{ code: number | string; out: string; err: string }>,
    daemon: Program,
  ) => Promise<void>,
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
    }, daemon);
  });
}

test(
  "a run is started, looked at, decided and followed to its end from the command line",
  () =>
    withDaemon(async (dag) => {
      const started = await dag("trigger", "deploy it");
      expect(started).toMatchObject({ code: 0, err: "" });
      const key = started.out.trim();
      expect(key).toMatch(/^manual-[0-9a-f]{12}$/);
      await expect
        .poll(async () => (await dag("show", "deploy it", key)).out, { timeout: 25_000 })
        .toContain(`decide it: cronstable dag approve 'deploy it' ${key} agree`);
      expect(await dag("approve", "deploy it", key, "agree", "--by", "ann")).toMatchObject({
        code: 0,
        out: "agree: approved\n",
      });
      const again = await dag("reject", "deploy it", key, "agree");
      expect(again).toMatchObject({ code: 1, err: "cronstable dag: task is not awaiting approval\n" });
      await expect
        .poll(async () => (await dag("runs", "deploy it")).out, { timeout: 25_000 })
        .toMatch(new RegExp(`^${key} +manual +success`, "m"));
      const json = JSON.parse((await dag("show", "deploy it", key, "--json")).out);
      expect(json).toMatchObject({ state: "success", tasks: { agree: { approval: { by: "ann" } } } });
    }),
  90_000,
);

test(
  "past dates are backfilled once, and a run that is waited for gives the exit code",
  () =>
    withDaemon(async (dag) => {
      const range = ["daily", "--from", "2026-01-01", "--to", "2026-01-02T23:00"];
      expect(await dag("backfill", ...range)).toMatchObject({ code: 0, out: "2 dates, 2 of them new\n" });
      expect(await dag("backfill", ...range)).toMatchObject({ code: 0, out: "2 dates, 0 of them new\n" });
      expect(await dag("trigger", "daily", "--wait")).toMatchObject({ code: 0 });
    }),
  90_000,
);

test(
  "what cannot be done is said, with what to do",
  () =>
    withFolder(async ({ path, write, start }) => {
      const file = write("dags.yaml", config(path));
      const ended = async (...args: string[]) => {
        const program = start("dag", ...args);
        return { code: await program.ended, err: program.stderr(), out: program.stdout() };
      };
      expect((await ended("validate", "-c", file)).out).toBe(
        "deploy it: 3 tasks in 3 steps, started by hand\ndaily: 1 task in 1 step, schedule 0 2 * * *\n",
      );
      expect(await ended("graph", "weekly", "-c", file)).toMatchObject({
        code: 1,
        err: "cronstable dag: dag 'weekly' is not configured; there are: deploy it, daily\n",
      });
      const nobody = await ended("runs", "daily", "-c", file);
      expect(nobody.code).toBe(1);
      expect(nobody.err).toMatch(
        /^cronstable dag: the daemon cannot be reached at unix:\/\/.*; name another address with --url/,
      );
      expect(await ended("runs", "daily", "--url", "ftp://x")).toMatchObject({ code: 1 });
      expect(await ended("graph", "daily", "-c", file, "--format", "png")).toMatchObject({ code: 2 });
    }),
  60_000,
);

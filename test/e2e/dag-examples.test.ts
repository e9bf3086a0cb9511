import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { DagRunDocument, DagRuns } from "../../src/contract/wire/dags.ts";
import { cronstable, type Program, withFolder } from "../support/daemon-process.ts";
import { sendRequest } from "../support/web-node.ts";

const root = join(import.meta.dirname, "../..");

/** A daemon's lease outlives it by up to 30 s, and the scan that finds its runs comes every 30 s. */
const TAKEN_UP = { timeout: 120_000, interval: 200 };

/** The daemon of one example, which the test kills and starts again. */
interface Example {
  readonly path: string;
  daemon: Program;
  post(path: string, body?: unknown): Promise<Record<string, unknown>>;
  get<T>(path: string): Promise<T>;
  trigger(dag: string): Promise<string>;
  run(dag: string, runKey: string): Promise<DagRunDocument>;
  /** kill -9, and a new daemon. */
  killAndRestart(): Promise<void>;
  /** Waits until the run has ended, and answers with its verdict and the states of its tasks. */
  ended(dag: string, runKey: string): Promise<string>;
  read(name: string): string;
}

function withExample(name: string, use: (example: Example) => Promise<void>): Promise<void> {
  return withFolder(async ({ path }) => {
    mkdirSync(join(path, "bin"));
    symlinkSync(join(root, "dist/cronstable.cjs"), join(path, "bin/cronstable"));
    const socketPath = join(path, "web.sock");
    const environment = {
      EXAMPLE_DIR: path,
      EXAMPLE_LISTEN: `unix://${socketPath}`,
      PATH: `${join(path, "bin")}:${process.env.PATH}`,
    };
    const start = async (): Promise<Program> => {
      const daemon = cronstable(["-c", join(root, "examples/dag", name)], environment);
      await daemon.seen(/dags: at work on 1 dag/);
      return daemon;
    };
    const ask = async (method: string, asked: string, body?: unknown) => {
      const answered = await sendRequest(0, method, asked, {
        to: { socketPath },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (answered.status !== 200) throw new Error(`${method} ${asked}: ${answered.status} ${answered.text}`);
      return answered.json();
    };
    const example: Example = {
      path,
      daemon: await start(),
      post: (asked, body) => ask("POST", asked, body),
      get: (asked) => ask("GET", asked),
      trigger: async (dag) => (await ask("POST", `/dags/${dag}/trigger`)).runKey,
      run: (dag, runKey) => ask("GET", `/dags/${dag}/runs/${runKey}`),
      async killAndRestart() {
        example.daemon.child.kill("SIGKILL");
        await example.daemon.ended;
        example.daemon = await start();
      },
      async ended(dag, runKey) {
        await vi.waitUntil(async () => (await example.run(dag, runKey)).state !== "running", TAKEN_UP);
        const { state, tasks } = await example.run(dag, runKey);
        return `${state}: ${Object.entries(tasks)
          .map(([key, task]) => `${key} ${task.state}`)
          .join(", ")}`;
      },
      read: (file) => readFileSync(join(path, file), "utf8"),
    };
    try {
      await use(example);
      example.daemon.child.kill("SIGTERM");
      expect(await example.daemon.ended).toBe(0);
    } finally {
      example.daemon.child.kill("SIGKILL");
    }
  });
}

const limits = { timeout: 240_000, concurrent: true };

test("etl.yaml: killed in the middle, the run goes on and loads what was extracted", limits, () =>
  withExample("etl.yaml", async (example) => {
    const runKey = await example.trigger("nightly-etl");
    await example.daemon.seen(/Job nightly-etl\.transform spawned/);
    await example.killAndRestart();
    expect(await example.ended("nightly-etl", runKey)).toBe(
      "success: extract success, load success, transform success",
    );
    expect(example.read("loaded")).toBe("1\n2\n3\n");
    const { tasks } = await example.run("nightly-etl", runKey);
    expect([tasks.extract?.attempt, tasks.transform?.attempt, tasks.load?.attempt]).toEqual([0, 1, 0]);
  }),
);

test("fan-out.yaml: every item has its instance once, before and after", limits, () =>
  withExample("fan-out.yaml", async (example) => {
    const runKey = await example.trigger("shards");
    await vi.waitUntil(async () => "process#2" in (await example.run("shards", runKey)).tasks, TAKEN_UP);
    const { mapped } = await example.run("shards", runKey);
    await example.killAndRestart();
    expect(await example.ended("shards", runKey)).toBe(
      "success: list-shards success, merge success, process expanded, process#0 success, process#1 success, process#2 success",
    );
    expect((await example.run("shards", runKey)).mapped).toEqual(mapped);
    expect(example.daemon.stdout()).toMatch(/^\[shards\.[\w-]+ stdout\] /m); // D-LOG-1
    expect(example.read("merged")).toBe('"north"\n"south"\n{"name": "east", "rows": 3}\n');
  }),
);

test("sensor.yaml: goes on asking where it was, and sees what has come meanwhile", limits, () =>
  withExample("sensor.yaml", async (example) => {
    const runKey = await example.trigger("import");
    const sensor = async () => (await example.run("import", runKey)).tasks["wait-for-delivery"];
    await vi.waitUntil(async () => Number((await sensor())?.pokeCount) >= 2, TAKEN_UP);
    const before = await sensor();
    await example.killAndRestart();
    writeFileSync(join(example.path, "delivery.ready"), "");
    expect(await example.ended("import", runKey)).toBe("success: take-in success, wait-for-delivery success");
    const after = await sensor();
    expect(after?.firstPokeAt).toBe(before?.firstPokeAt);
    expect(Number(after?.pokeCount)).toBeGreaterThan(Number(before?.pokeCount));
    expect(existsSync(join(example.path, "delivery.taken"))).toBe(true);
  }),
);

test("approval.yaml: the gate waits through a kill, is told of once, and is decided after it", limits, () =>
  withExample("approval.yaml", async (example) => {
    const runKey = await example.trigger("release");
    const gate = async () => (await example.run("release", runKey)).tasks["sign-off"];
    await vi.waitUntil(async () => (await gate())?.approvalNotifiedAt !== undefined, TAKEN_UP);
    await vi.waitUntil(() => existsSync(join(example.path, "notified")), TAKEN_UP);
    await example.killAndRestart();
    const decision = `/dags/release/runs/${runKey}/tasks/sign-off/decision`;
    expect(await example.post(decision, { decision: "approve", by: "alice" })).toEqual({ ok: true, state: "success" });
    expect(await example.ended("release", runKey)).toBe(
      "success: build success, publish success, sign-off success, tidy-up success",
    );
    expect((await gate())?.approval).toMatchObject({ decision: "approved", by: "alice" });
    expect(example.read("published.txt")).toBe("release notes\n");
    expect(example.read("notified").match(/sign-off is an approval gate/g)).toHaveLength(1);
  }),
);

test("retries-and-cleanup.yaml: an attempt that waits for its time waits through a kill", limits, () =>
  withExample("retries-and-cleanup.yaml", async (example) => {
    const runKey = await example.trigger("nightly-copy");
    const copy = async () => (await example.run("nightly-copy", runKey)).tasks.copy;
    await vi.waitUntil(async () => (await copy())?.state === "up_for_retry", TAKEN_UP);
    await example.killAndRestart();
    expect(await example.ended("nightly-copy", runKey)).toBe("success: clean-up success, copy success, verify success");
    expect(example.read("attempts")).toBe("0\n1\n2\n");
    expect(example.read("verified")).toBe("verified\n");
    expect(await copy()).toMatchObject({ attempt: 2, failReason: null });
  }),
);

test("backfill.yaml: each date is run once, whatever happens in between", limits, () =>
  withExample("backfill.yaml", async (example) => {
    const ask = () => example.post("/dags/daily-report/backfill", { from: "2026-01-01", to: "2026-01-03T23:59:59" });
    expect(await ask()).toEqual({ ok: true, created: 3, new: 3, truncated: false });
    await example.daemon.seen(/Job daily-report\.collect spawned/);
    await example.killAndRestart();
    expect(await ask()).toEqual({ ok: true, created: 3, new: 0, truncated: false });
    const { runs } = await example.get<DagRuns>("/dags/daily-report/runs");
    const keys = runs.map(({ runKey }) => runKey).sort();
    expect(keys).toEqual(["2026-01-01T05:30:00_00:00", "2026-01-02T05:30:00_00:00", "2026-01-03T05:30:00_00:00"]);
    for (const runKey of keys) {
      expect(await example.ended("daily-report", runKey)).toBe("success: collect success, report success");
      expect(example.read(`report.${runKey}`)).toBe(`${runKey.replace("_", "+")}\n`);
    }
  }),
);

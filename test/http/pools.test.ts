import { afterEach, beforeEach, expect, test } from "vitest";
import type { NotRunReason } from "../../src/contract/reason.ts";
import { pools, queueEntry } from "../../src/contract/wire/pool.ts";
import { settled } from "../../src/platform/simulated-clock.ts";
import { type PoolNode, poolNode, warehouse, work } from "../scheduler/support/pool-node.ts";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode, token, type WebNode } from "../support/web-node.ts";

const ci = { authorization: "Bearer s3cret" };
let pool: PoolNode;
let node: WebNode;

beforeEach(async () => {
  pool = poolNode({ pool: warehouse(1, 7) });
  node = await startWebNode({
    jobs: [jobConfig({ name: "load" })],
    parts: { pools: () => pool.queues },
    web: { authTokens: [token("s3cret", ["control", "view"], "ci")] },
  });
  await Promise.all(["a", "b"].map((id) => pool.queues.enqueue("warehouse", work(id))));
  await settled();
});
afterEach(() => node.stop());

const cancel = (path: string) => node.post(`/pools/${path}/cancel`, undefined, ci);

test("the pools with what waits and runs in them", async () => {
  const answer = await node.get("/pools", ci);
  expect(answer.status).toBe(200);
  const body = pools.parse(answer.json());
  expect(body.pools).toMatchObject([{ name: "warehouse", slots: 1, used: 1, queued: 1, maxQueued: 7, recent: [] }]);
  expect(body.pools[0]?.entries).toMatchObject([
    {
      id: "a",
      state: "running",
      startedAt: "2026-11-30T12:00:00+00:00",
      leaseUntil: "2026-11-30T12:00:30+00:00",
      holder: expect.stringMatching(/^host-a#[0-9a-f]{12}$/),
    },
    {
      id: "b",
      state: "waiting",
      enqueuedAt: "2026-11-30T12:00:00.000001+00:00", // the second of one instant
      deadline: "2026-11-30T13:00:00+00:00",
      startedAt: null,
      finishedAt: null,
    },
  ]);
});

test("an entry that waits is cancelled, and again with the same answer", async () => {
  const first = await cancel("warehouse/queue/b");
  expect([first.status, queueEntry.parse(first.json())]).toEqual([
    200,
    expect.objectContaining({ id: "b", state: "cancelled", reason: "cancelled by operator" }),
  ]);
  const again = await cancel("warehouse/queue/b");
  expect([again.status, again.json()]).toEqual([200, first.json()]);
  expect(pool.bench.logged).toContain("INFO pool warehouse: job b (b) was cancelled in the queue by ci");
});

test.each([
  ["warehouse/queue/z", 404, "pool 'warehouse' has no queue entry 'z'"],
  ["attic/queue/b", 404, "pool 'attic' not found"],
  ["warehouse/queue/a", 409, "queue entry a is already running; cancel job a instead"],
])("what cannot be cancelled is said: %s", async (path, status, error) => {
  const answer = await cancel(path);
  expect([answer.status, answer.json()]).toEqual([status, { error }]);
});

test("a store that does not answer is 503, for all of them (acceptance 46)", async () => {
  pool.bench.unplug();
  const unavailable = [503, { error: "pool state is unavailable" }];
  for (const answer of [await node.get("/pools", ci), await cancel("warehouse/queue/b")])
    expect([answer.status, answer.json()]).toEqual(unavailable);
});

test.each<[NotRunReason, number, string]>([
  [{ kind: "pool-refused", pool: "p", why: "its queue is full (7 entries)" }, 409, "its queue is full (7 entries)"],
  [{ kind: "pool-unavailable", pool: "p" }, 503, "pool state is unavailable"],
])("a start by hand that its pool keeps out is no start: $0.kind", async (reason, status, error) => {
  node.scheduler.startJob = async () => ({ kind: "refused", reason });
  const answer = await node.post("/jobs/load/start", undefined, ci);
  expect([answer.status, answer.json()]).toEqual([status, { error }]);
});

test("without pools the list is empty and nothing is found", async () => {
  const bare = await startWebNode({ web: { authTokens: [token("s3cret", ["control", "view"], "ci")] } });
  try {
    expect((await bare.get("/pools", ci)).json()).toEqual({ pools: [] });
    expect((await bare.post("/pools/p/queue/k/cancel", undefined, ci)).status).toBe(404);
  } finally {
    await bare.stop();
  }
});

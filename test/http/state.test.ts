import { afterEach, beforeEach, expect, test } from "vitest";
import { stateDocuments, stateOverview, stateRecords } from "../../src/contract/wire/state.ts";
import { createStateInspection } from "../../src/daemon/state-inspection.ts";
import { settled, simulatedClock } from "../../src/platform/simulated-clock.ts";
import type { Conduct } from "../../src/store/front/in-thread.ts";
import { jsonFloat } from "../../src/store/json.ts";
import { memoryMedium } from "../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../src/store/memory/open.ts";
import type { Store } from "../../src/store/store.ts";
import { startWebNode, type WebNode } from "../support/web-node.ts";
import { missing, sample } from "./samples.ts";

const clock = simulatedClock(Date.parse("2026-11-30T08:49:05Z"));
let conduct: Conduct = { kind: "answer" };
let store: Store | null = null;
let node: WebNode;

beforeEach(async () => {
  conduct = { kind: "answer" };
  store = openMemoryStore({ medium: memoryMedium(), clock, writer: "0".repeat(12), conduct: () => conduct });
  const inspection = createStateInspection({
    clock,
    store: () => store,
    jobSetId: () => "v1:x",
    host: "node-a",
    node: () => ({
      retries: [{ job: "j", attempt: 1, nextRetryAt: "2026-11-30T08:51:45+00:00", delaySeconds: 30 }],
      slots: [],
    }),
  });
  node = await startWebNode({ parts: { state: () => inspection } });
  await store.records.append("runs/a", { outcome: "success", duration: jsonFloat(1) });
  await store.records.append("runs/a", { outcome: "failure" });
  await store.records.append("runs/b/c", { outcome: "success" });
  await store.records.append("meta", { storeVersion: "v1" });
  await store.records.append("logs/a", { line: "secret output" });
  const put = (namespace: string, key: string, body: Record<string, never>) =>
    store?.documents.mutate(namespace, key, () => ({ kind: "put", body, answer: null }));
  const values = {
    dict: { n: 1, m: [1, 2] },
    list: [],
    str: "plain",
    int: 7,
    float: jsonFloat(2),
    half: 0.5,
    bool: true,
    NoneType: null,
  };
  for (const [key, value] of Object.entries(values)) await put("kv/user", key, { key, value, updatedAt: 5.5 } as never);
  await put("cursor/user", "rows", { name: "rows", value: 42, updatedAt: 5.5 } as never);
  await store.leases.acquire("lock", "node-a#1", 5_000);
});
afterEach(() => node.stop());

test("the store is counted by the first part of each name (INS-1)", async () => {
  const answer = (await node.get("/state")).json();
  expect(stateOverview.parse(answer)).toEqual(answer);
  expect(missing({ ...(sample("state.json") as object), records: {}, documents: {}, stats: {} }, answer)).toEqual([]);
  expect(answer.records).toEqual({
    logs: { count: 1, streams: 1, scopes: [{ scope: "a", count: 1 }] },
    meta: { count: 1, streams: 1, scopes: [{ scope: "", count: 1 }] },
    runs: {
      count: 3,
      streams: 2,
      scopes: [
        { scope: "a", count: 2 },
        { scope: "b/c", count: 1 },
      ],
    },
  });
  expect(answer.documents.kv).toEqual({ count: 8, streams: 1, scopes: [{ scope: "user", count: 8 }] });
  expect(answer.leases).toEqual([
    { name: "lock", holder: "node-a#1", fence: 1, expiresAt: clock.wallNow() / 1000 + 5, expired: false },
  ]);
  expect([answer.enabled, answer.enumerable, answer.node.host, answer.node.retries[0].job]).toEqual([
    true,
    true,
    "node-a",
    "j",
  ]);
});

test("values of jobs are described, never shown (acceptance 38, INS-2)", async () => {
  const { documents } = stateDocuments.parse((await node.get("/state/documents?ns=kv/user")).json());
  expect(Object.fromEntries(documents.map(({ key, valueType, valueSize }) => [key, [valueType, valueSize]]))).toEqual({
    dict: ["dict", '{"n": 1, "m": [1, 2]}'.length],
    list: ["list", 2],
    str: ["str", 7],
    int: ["int", 1],
    float: ["float", 3],
    half: ["float", 3],
    bool: ["bool", 4],
    NoneType: ["NoneType", 4],
  });
  expect(JSON.stringify(documents)).not.toContain("plain");
  expect((await node.get("/state/documents?ns=cursor/user")).json().documents).toEqual([
    { name: "rows", value: 42, updatedAt: 5.5 },
  ]);
  for (const ns of ["kv", "", "kv/", "runs/a", "dagrun/x"])
    expect((await node.get(`/state/documents?ns=${ns}`)).json()).toEqual({
      error: "ns must be a kv/, cursor/ or idem/ namespace",
    });
});

test("records come newest first, output never, and no name leaves the store (acceptance 38)", async () => {
  const records = async (query: string) =>
    stateRecords.parse((await node.get(`/state/records?${query}`)).json()).records;
  expect(await records("stream=runs/a")).toEqual([{ outcome: "failure" }, { outcome: "success", duration: 1 }]);
  expect(await records("stream=runs/a&limit=0")).toEqual([{ outcome: "failure" }]);
  for (const stream of ["nope", "../../etc/passwd", "runs/../logs/a", "%00"])
    expect(await records(`stream=${stream}`)).toEqual([]);
  for (const stream of ["logs", "logs/a"]) {
    const { status, json } = await node.get(`/state/records?stream=${stream}`);
    expect([status, json()]).toEqual([403, { error: "log streams carry raw output and are not inspectable" }]);
  }
  expect((await node.get("/state/records")).json()).toEqual({ error: "a stream is required" });
});

test("a store that fails shows as one that cannot be listed, and lists are empty", async () => {
  conduct = { kind: "fail", message: "disk gone" };
  const { status, json } = await node.get("/state");
  expect([status, json().enumerable, json().records, json().leases]).toEqual([200, false, {}, []]);
  expect((await node.get("/state/documents?ns=kv/user")).json().documents).toEqual([]);
  expect((await node.get("/state/records?stream=runs/a")).json().records).toEqual([]);
});

test("a store that hangs is waited for ten seconds (acceptance 37)", async () => {
  conduct = { kind: "slow", delayMs: Number.POSITIVE_INFINITY };
  const asked = node.get("/state");
  await expect.poll(() => clock.pending).toBeGreaterThan(0);
  await settled();
  clock.runUntil(clock.wallNow() + 10_000);
  expect((await asked).json().enumerable).toBe(false);
});

test("a store that did not start looks like none; none is said", async () => {
  store = null;
  expect((await node.get("/state")).json()).toEqual({ enabled: false });
  const without = await startWebNode({});
  expect((await without.get("/state")).json()).toEqual({ enabled: false });
  for (const path of ["/state/documents?ns=x", "/state/records?stream=logs/x"]) {
    const { status, json } = await without.get(path);
    expect([status, json()]).toEqual([404, { error: "state store is not configured" }]);
  }
  await without.stop();
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { JobView } from "../../src/contract/job-view.ts";
import { takesGzip } from "../../src/http/accept.rules.ts";
import { etagOf, isKnownTag } from "../../src/http/etag.ts";
import { productOf } from "../../src/http/product.ts";
import { sharedProduct } from "../../src/http/shared-product.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { jobConfig } from "../support/job-config.ts";
import { configOf } from "../support/node.ts";
import { startWebNode, type WebNode } from "../support/web-node.ts";

const jobs = ["a", "b", "c", "d", "e"].map((name) => jobConfig({ name }));
let node: WebNode;
beforeEach(async () => {
  node = await startWebNode({ jobs, at: "2026-11-30T08:49:05Z", web: { headers: { "X-Demo": "1" } } });
});
afterEach(() => node.stop());

const tag = async (): Promise<string> => String((await node.get("/jobs")).headers.etag);

test("time alone makes no new version of the jobs, and a known version is not sent again (acceptance 13)", async () => {
  const first = await node.get("/jobs");
  await node.until("2026-11-30T08:49:07Z");
  const second = await node.get("/jobs");
  expect(second.headers.etag).toBe(first.headers.etag);
  expect(first.headers.etag).toMatch(/^"[0-9a-f]{32}"$/);
  expect([first.json()[0].scheduled_in, second.json()[0].scheduled_in]).toEqual([55, 53]);
  const known = String(first.headers.etag);
  for (const value of [known, `W/${known}`, `"x", ${known}`, "*"]) {
    const { status, text, headers } = await node.get("/jobs", { "if-none-match": value });
    expect([status, text, headers.etag, headers.vary, headers["x-demo"]]).toEqual([
      304,
      "",
      known,
      "Accept-Encoding",
      "1",
    ]);
  }
  expect((await node.get("/jobs", { "if-none-match": '"x"' })).status).toBe(200);
});

test("a run, a pause, its end and a reload make a new version at once (acceptance 13)", async () => {
  const seen = [await tag()];
  await node.post("/jobs/a/start");
  seen.push(await tag());
  node.run("a").exit(1);
  seen.push(await tag());
  await node.post("/jobs/a/pause");
  seen.push(await tag());
  await node.post("/jobs/a/resume");
  await node.until("2026-11-30T08:50:00Z");
  seen.push(await tag());
  await node.apply(configOf(jobs.slice(0, 2)));
  seen.push(await tag());
  expect(new Set(seen).size).toBe(seen.length);
});

test("a pause is in the very next answer (acceptance 15)", async () => {
  await node.get("/jobs");
  await node.post("/jobs/b/pause", { note: "move" });
  expect((await node.get("/jobs")).json()[1].paused.note).toBe("move");
  expect((await node.get("/summary")).json().jobs.paused).toBe(1);
  expect((await node.get("/schedule/why?job=b&at=2026-11-30T09:00")).json().notes.at(-1).code).toBe("paused");
  expect((await node.get("/metrics")).text).toContain('cronstable_job_paused{job_name="b"} 1');
});

test("large bodies are compressed for those who ask by name (acceptance 14)", async () => {
  const plain = await node.get("/jobs");
  const gzipped = await node.get("/jobs", { "accept-encoding": "br, gzip;q=0.5" });
  expect(gzipped.headers["content-encoding"]).toBe("gzip");
  expect(gzipped.text).toBe(plain.text);
  expect([gzipped.headers.etag, gzipped.headers.vary]).toEqual([plain.headers.etag, plain.headers.vary]);
  for (const accept of ["gzip;q=0", "*", "br", "gzip; q=0.000"])
    expect((await node.get("/jobs", { "accept-encoding": accept })).headers["content-encoding"]).toBeUndefined();
  for (const path of ["/version", "/cluster", "/fleet", "/summary"])
    expect((await node.get(path, { "accept-encoding": "gzip" })).headers["content-encoding"]).toBeUndefined();
  const vary: Record<string, string | undefined> = {};
  for (const path of ["/jobs", "/activity", "/fleet", "/dags", "/cluster", "/metrics", "/version"])
    vary[path] = (await node.get(path)).headers.vary;
  expect(vary).toEqual({
    "/jobs": "Accept-Encoding",
    "/activity": "Accept-Encoding",
    "/fleet": "Accept-Encoding",
    "/dags": "Accept-Encoding",
    "/cluster": "Accept-Encoding",
    "/metrics": "Accept, Accept-Encoding",
    "/version": undefined,
  });
  for (const path of ["/cluster", "/metrics", "/summary", "/jobs/a"])
    expect((await node.get(path)).headers.etag).toBeUndefined();
});

test.each([
  ["gzip", true],
  ["GZIP", true],
  ["gzip;q=0.1", true],
  ["deflate, gzip ; q=1", true],
  ["gzip;q=0", false],
  ["x-gzip", false],
  ["*", false],
  ["", false],
  [undefined, false],
])("Accept-Encoding %s: %s", (header, takes) => {
  expect(takesGzip(header)).toBe(takes);
});

test("a version is known as it is, weakly, or as any (acceptance 13)", () => {
  const known = etagOf("x");
  expect(known).toBe('"2d711642b726b04401627ca9fbac32f5"');
  for (const header of [known, `W/${known}`, "*", `"a" , ${known}`]) expect(isKnownTag(header, known)).toBe(true);
  for (const header of [undefined, '"a"', known.slice(1, -1), ""]) expect(isKnownTag(header, known)).toBe(false);
});

test("those who ask while it is built share one build; what was begun before a change is given to nobody after it (acceptance 15)", async () => {
  const clock = simulatedClock(0);
  const builds: ((text: string) => void)[] = [];
  const product = (text: string) =>
    productOf({ contentType: "text/plain", body: Buffer.from(text), etag: null, vary: "" });
  let revision = 0;
  const build = vi.fn(
    () => new Promise<ReturnType<typeof product>>((resolve) => builds.push((text) => resolve(product(text)))),
  );
  const shared = sharedProduct(clock, () => revision, build);
  const text = async (): Promise<string> => (await shared()).body.toString();

  const asked = Array.from({ length: 50 }, text);
  expect(build).toHaveBeenCalledTimes(1);
  revision++; // a pause, mid-build
  const later = text();
  expect(build).toHaveBeenCalledTimes(2);
  builds[0]?.("before");
  builds[1]?.("after");
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["before"]));
  expect(await later).toBe("after");
  expect(await text()).toBe("after");
  expect(build).toHaveBeenCalledTimes(2);
  clock.runUntil(1_000);
  const fresh = text();
  builds[2]?.("fresh");
  expect(await fresh).toBe("fresh");

  revision++;
  const failing = sharedProduct(
    clock,
    () => revision,
    vi.fn().mockRejectedValueOnce(new Error("no")).mockResolvedValue(product("yes")),
  );
  await expect(failing()).rejects.toThrow("no");
  expect((await failing()).body.toString()).toBe("yes");
});

test("building for very many jobs leaves others their turn (acceptance 40)", async () => {
  const many = Array.from({ length: 20_000 }, (_, index) => jobConfig({ name: `job-${index}` }));
  const turns: number[] = [];
  let last = performance.now();
  const watch = setInterval(() => {
    turns.push(performance.now() - last);
    last = performance.now();
  }, 1);
  await node.apply(configOf(many));
  last = performance.now();
  turns.length = 0;
  const views: JobView[] = (await node.get("/jobs")).json();
  clearInterval(watch);
  expect(views).toHaveLength(20_000);
  expect(turns.length).toBeGreaterThan(3);
});

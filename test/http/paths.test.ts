import { afterAll, beforeAll, expect, test } from "vitest";
import { createRouter } from "../../src/http/router.ts";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode, type WebNode } from "../support/web-node.ts";

const names = ["a/b", 'a/b "c" ü', 'we"ird\\na/me %41 ü', "..", "100%", "a+b", "a?b#c", "trailing ", "runs", "é'"];
let node: WebNode;
beforeAll(async () => {
  node = await startWebNode({ jobs: names.map((name) => jobConfig({ name, launch: { captureStdout: true } })) });
});
afterAll(() => node.stop());

const once = (name: string): string => encodeURIComponent(name).replaceAll(".", "%2E");

test.each(names)("a job called %s is one encoded segment, everywhere (acceptance 3, F52)", async (name) => {
  const path = `/jobs/${once(name)}`;
  for (const [suffix, where] of [
    ["", "name"],
    ["/runs", "name"],
    ["/resources", "name"],
    ["/trends", "name"],
  ] as const)
    expect((await node.get(`${path}${suffix}`)).json()[where]).toBe(name);
  expect((await node.post(`${path}/pause`)).json().paused.by).toBe("api");
  expect((await node.post(`${path}/resume`)).json()).toEqual({ paused: null });
  expect((await node.get(`${path}/logs`)).text).toBe('event: end\ndata: {"reason": "no-output"}\n\n');
  expect((await node.post(`${path}/start`)).json().started).toBe(name);
  const calendar = (await node.get(`${path}/calendar.ics?limit=1`)).text;
  expect(calendar).toContain(`X-WR-CALNAME:cronstable: ${name.replaceAll("\\", "\\\\")}`);
});

test("an unknown name comes back in quotes that do not end early", async () => {
  for (const [name, quoted] of [
    ["nope", "'nope'"],
    ["it's", `"it's"`],
    [`a'b"c`, `'a'b"c'`],
    ["x\ny", "'x\ny'"],
  ] as const)
    expect((await node.get(`/jobs/${once(name)}`)).json()).toEqual({ error: `job ${quoted} not found` });
});

test("paths are matched as they come (acceptance 2)", async () => {
  for (const path of [
    "/jobs/",
    "//jobs",
    "/JOBS",
    "/Jobs",
    "/%6aobs",
    "/./jobs",
    "/jobs/.",
    "/jobs//runs",
    "/jobs/a/b/runs",
    "/jobs/%zz",
    "/jobs/%C3",
    "/jobs/100%",
    "/favicon.ico",
    "/",
    "http://127.0.0.1/jobs",
  ])
    expect({ path, status: (await node.get(path)).status }).toEqual({ path, status: 404 });
  expect((await node.get("/nope")).text).toBe('{"error":"404: Not Found"}');
});

test("another method of a known path is told what it may be (acceptance 2)", async () => {
  const cases = [
    ["PUT", "/jobs", "GET,HEAD"],
    ["GET", "/jobs/a%2Fb/start", "POST"],
    ["PATCH", "/push/devices", "GET,HEAD,POST"],
    ["OPTIONS", "/jobs", "GET,HEAD"],
    ["GET", "/shutdown", "POST"],
  ] as const;
  for (const [method, path, allow] of cases) {
    const answer = await node.ask(method, path);
    expect({ path, status: answer.status, allow: answer.headers.allow, body: answer.text }).toEqual({
      path,
      status: 405,
      allow,
      body: '{"error":"405: Method Not Allowed"}',
    });
  }
});

test("HEAD answers like GET, without the body (acceptance 2)", async () => {
  const { paths } = (await node.get("/openapi.json")).json();
  const readable = Object.keys(paths).filter((path) => "get" in paths[path] && !path.includes("{"));
  for (const path of [...readable, `/jobs/${once("a/b")}`, `/jobs/${once("a/b")}/runs`]) {
    const [get, head] = [await node.get(path), await node.ask("HEAD", path)];
    const { date: _, ...shown } = get.headers;
    const { date: __, ...alike } = head.headers;
    expect({ path, status: head.status, body: head.text }).toEqual({ path, status: get.status, body: "" });
    expect(Object.keys(alike)).toEqual(Object.keys(shown));
  }
  const stream = await node.ask("HEAD", `/jobs/${once("a/b")}/logs`);
  expect([stream.headers["content-type"], stream.text]).toEqual(["text/event-stream", ""]);
});

test("numbers in queries are never an error (acceptance 5)", async () => {
  await node.get("/jobs/a%2Fb");
  const length = async (query: string): Promise<number> =>
    (await node.get(`/schedule/preview?expr=*+*+*+*+*&${query}`)).json().fires.length;
  expect(await length("limit=abc")).toBe(12);
  expect(await length("limit=0")).toBe(1);
  expect(await length("limit=99999")).toBe(60);
  expect(await length("count=3")).toBe(3);
  expect(await length("limit=abc&count=3")).toBe(12);
  expect(await length("limit=2&limit=5")).toBe(2);
  expect((await node.get("/schedule/pressure?hours=1e3")).json().hours).toBe(24);
});

test("literal segments win over names, and a name does not swallow a path", () => {
  const router = createRouter([
    { method: "GET", path: "/a/{x}", scope: "view" },
    { method: "GET", path: "/a/b", scope: "view" },
    { method: "POST", path: "/a/{x}/c/{y}", scope: "view" },
    { method: "GET", path: "/a/b/{z}", scope: "view" },
  ]);
  const match = (method: string, path: string): unknown => {
    const found = router(method, path);
    return found.kind === "route" ? [found.route.path, found.params] : found.kind;
  };
  expect(match("GET", "/a/b")).toEqual(["/a/b", {}]);
  expect(match("GET", "/a/c")).toEqual(["/a/{x}", { x: "c" }]);
  expect(match("POST", "/a/b/c/d")).toEqual(["/a/{x}/c/{y}", { x: "b", y: "d" }]);
  expect(match("GET", "/a/b/c")).toEqual(["/a/b/{z}", { z: "c" }]);
  expect(match("GET", "/a/b/c/d")).toBe("wrong method");
  expect(match("GET", "/a")).toBe("no route");
});

test("what is too long is refused, what many cookies make is not (acceptance 36)", async () => {
  const long = "x".repeat(9_000);
  expect((await node.get("/version", { "x-long": long })).status).toBe(431);
  expect((await node.get(`/version?x=${long}`)).status).toBe(414);
  const cookies = Object.fromEntries(["a", "b", "c"].map((name) => [`x-${name}`, "x".repeat(7_000)]));
  expect((await node.get("/version", cookies)).status).toBe(200);
  expect((await node.ask("GET", "/version", { headers: { ...cookies, "x-d": long, "x-e": long } })).status).toBe(431);
});

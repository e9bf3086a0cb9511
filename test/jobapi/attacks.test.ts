import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobApi } from "../../src/jobapi/job-api.ts";
import { memoryMedium } from "../../src/store/memory/medium.ts";
import { aJob, aRun, startEndpoint } from "../support/job-api.ts";
import { logLines } from "../support/log-lines.ts";
import { scriptOf, wire } from "../support/wire.ts";

const medium = memoryMedium();
const said = logLines();
let api: JobApi;
beforeAll(async () => {
  api = await startEndpoint({ medium, log: said.log, config: { maxValueBytes: 1000, maxArtifactBytes: 100_000 } });
});
afterAll(() => api.stop());

const unauthorized = '401 {"error": "401: Unauthorized"}';

describe("a token", () => {
  const wrong: Readonly<Record<string, (token: string) => Readonly<Record<string, string | string[]>>>> = {
    missing: () => ({}),
    empty: () => ({ Authorization: "" }),
    "with nothing behind the scheme": () => ({ Authorization: "Bearer " }),
    "of another scheme": (token) => ({ Authorization: `Basic ${token}` }),
    shorter: (token) => ({ Authorization: `Bearer ${token.slice(1)}` }),
    longer: (token) => ({ Authorization: `Bearer ${token}0` }),
    "in capitals": (token) => ({ Authorization: `Bearer ${token.toUpperCase().replace(/^./, "A")}` }),
    "not ASCII": (token) => ({ Authorization: `Bearer ${"\u00e9".repeat(token.length)}` }),
    "behind two spaces": (token) => ({ Authorization: `Bearer  ${token}` }),
    "followed by something": (token) => ({ Authorization: `Bearer ${token} x` }),
    "sent twice": (token) => ({ Authorization: [`Bearer ${token}`, `Bearer ${token}`] }),
    "of no run": () => ({ Authorization: `Bearer ${"0".repeat(64)}` }),
    "in the query": () => ({}),
  };

  test.each(Object.entries(wrong))("that is %s is told the same as any wrong one (V1-1)", async (title, headers) => {
    const { environment } = await api.register(aRun());
    const { CRONSTABLE_STATE_TOKEN: token = "" } = environment;
    const query = title === "in the query" ? `?token=${token}&access_token=${token}` : "";
    const reference = await wire(api.url, { path: "/v1/run", headers: { Authorization: "Bearer x" } });
    const answer = await wire(api.url, { path: `/v1/run${query}`, headers: headers(token) });
    expect(`${answer.status} ${answer.text}`).toBe(unauthorized);
    expect({ ...answer.headers, date: "" }).toEqual({ ...reference.headers, date: "" });
  });

  test("is accepted whatever the case of the scheme (V1-1)", async () => {
    const { environment } = await api.register(aRun());
    const headers = { Authorization: `bEaReR ${environment.CRONSTABLE_STATE_TOKEN}` };
    expect((await wire(api.url, { path: "/v1/run", headers })).status).toBe(200);
  });

  test("is 32 random bytes, another one for each run", async () => {
    const tokens = await Promise.all([aRun(), aRun()].map(async (run) => (await api.register(run)).environment));
    const [a = "", b = ""] = tokens.map(({ CRONSTABLE_STATE_TOKEN }) => CRONSTABLE_STATE_TOKEN);
    expect(a).toMatch(/^[0-9a-f]{64}$/);
    expect(b).toMatch(/^[0-9a-f]{64}$/);
    expect(a).not.toBe(b);
  });

  test("is dead the moment its run ends, on an open connection too", async () => {
    const run = aRun();
    const script = scriptOf((await api.register(run)).environment);
    expect(await script.ask("GET", "/v1/run")).toMatch(/^200 /);
    void api.release(run.runId);
    expect(await script.ask("GET", "/v1/run")).toBe(unauthorized);
    expect(await script.ask("POST", "/v1/kv/set", '{"key":"late","value":1}')).toBe(unauthorized);
  });

  test("stands nowhere but in the environment of its run", async () => {
    const { environment } = await api.register(aRun());
    const { CRONSTABLE_STATE_TOKEN: token = "" } = environment;
    const script = scriptOf(environment);
    await script.ask("POST", "/v1/kv/set", '{"key":"k","value":1}');
    await script.ask("POST", "/v1/kv/set", "broken");
    expect(said.everything()).not.toContain(token);
    expect(JSON.stringify([...medium.documents].map(([name, documents]) => [name, [...documents]]))).not.toContain(
      token,
    );
    if (process.platform === "linux") {
      expect(readFileSync("/proc/self/cmdline", "utf8")).not.toContain(token);
      expect(readFileSync("/proc/self/environ", "utf8")).not.toContain(token);
    }
  });
});

describe("a scope", () => {
  test.each([
    "other",
    "Holder",
    "holder2",
    "GLOBAL",
    "kv/other",
    "../other",
    "holder/../other",
    "\u0000",
    "artifacts/other",
  ])("that is forged as %j is forbidden, for every kind of call", async (scope) => {
    const script = scriptOf((await api.register(aRun())).environment);
    const said = JSON.stringify(
      `scope '${scope}' is not permitted for job 'holder'; add it to stateAllowedScopes to allow this job to use it`,
    );
    const named = encodeURIComponent(scope);
    const fields = JSON.stringify({ scope, key: "k", name: "n", value: 1 });
    const answers = [
      await script.ask("GET", `/v1/kv/get?key=k&scope=${named}`),
      await script.ask("GET", `/v1/kv/list?scope=${named}`),
      await script.ask("POST", "/v1/kv/set", fields),
      await script.ask("POST", "/v1/kv/delete", fields),
      await script.ask("GET", `/v1/cursor/get?name=n&scope=${named}`),
      await script.ask("POST", "/v1/cursor/advance", fields),
      await script.ask("POST", "/v1/idempotency/claim", fields),
      await script.ask("POST", "/v1/idempotency/release", fields),
      await script.ask("POST", `/v1/artifact/put?name=n&scope=${named}`, "x"),
      await script.ask("GET", `/v1/artifact/get?name=n&scope=${named}`),
      await script.ask("GET", `/v1/artifact/list?scope=${named}`),
      await script.ask("POST", "/v1/lock/acquire", fields),
    ];
    expect(new Set(answers)).toEqual(new Set([`403 {"error": ${said}}`]));
  });

  test.each([" ", "team ", " team", "\tteam", "\u00a0"])(
    "that is %j is refused even when it is allowed (SCO-2)",
    async (scope) => {
      const job = aJob("holder", { stateAllowedScopes: [scope, "team"] });
      const script = scriptOf((await api.register(aRun({ job }))).environment);
      expect(await script.ask("GET", `/v1/kv/get?key=k&scope=${encodeURIComponent(scope)}`)).toBe(
        '400 {"error": "scope must not be blank and must not begin or end with white space"}',
      );
    },
  );

  test("that is allowed, shared, or its own, is open (SCO-1)", async () => {
    const job = aJob("holder", { stateAllowedScopes: ["team"] });
    const script = scriptOf((await api.register(aRun({ job }))).environment);
    for (const scope of ["team", "global", "holder", "", null])
      expect(await script.ask("POST", "/v1/kv/set", JSON.stringify({ scope, key: "k" }))).toMatch(/^200 /);
    expect(await script.ask("GET", "/v1/kv/get?key=k&scope=team&scope=other")).toMatch(/^200 /);
  });
});

describe("what one run may not have of another", () => {
  test("its secrets", async () => {
    const secrets = [{ name: "S", source: { value: "mine", fromFile: null, fromEnvVar: null } }];
    await api.register(aRun({ job: aJob("holder", { secrets }) }));
    const other = scriptOf((await api.register(aRun())).environment);
    expect(await other.ask("GET", "/v1/secret/get?name=S")).toMatch(/^404 /);
    expect(await other.ask("GET", "/v1/secret/list")).toBe('200 {"names": []}');
  });

  test("its locks", async () => {
    const owner = scriptOf((await api.register(aRun())).environment);
    const other = scriptOf((await api.register(aRun())).environment);
    const [, token] = /"token": "(\w+)"/.exec(await owner.ask("POST", "/v1/lock/acquire", '{"name":"mine"}')) ?? [];
    expect(await other.ask("POST", "/v1/lock/release", `{"token":"${token}"}`)).toBe('200 {"released": false}');
    expect(await other.ask("POST", "/v1/lock/acquire", '{"name":"mine"}')).toBe('200 {"acquired": false}');
  });
});

describe("names that play tricks", () => {
  test.each([
    "../../etc/passwd",
    "a/b",
    "..",
    ".",
    "%2e%2e",
    "\u0000",
    "a\nb",
    "con",
    "x".repeat(400),
    "__proto__",
    "constructor",
  ])("%j is a name like any other", async (name) => {
    const script = scriptOf((await api.register(aRun({ name: `tricks ${name.slice(0, 20)}` }))).environment);
    const named = encodeURIComponent(name);
    expect(await script.ask("POST", "/v1/kv/set", JSON.stringify({ key: name, value: { [name]: 1 } }))).toMatch(
      /^200 /,
    );
    const { status, text } = await script.send("GET", `/v1/kv/get?key=${named}`);
    expect(status).toBe(200);
    expect(Object.entries(JSON.parse(text).value)).toEqual([[name, 1]]);
    expect(await script.ask("POST", `/v1/artifact/put?name=${named}`, "payload")).toMatch(/^200 /);
    expect(await script.ask("GET", `/v1/artifact/get?name=${named}`)).toBe("200 payload");
    const keys = JSON.parse((await script.send("GET", "/v1/kv/list")).text).keys;
    expect(keys).toMatchObject([{ key: name }]);
  });
});

describe("too much", () => {
  test("a body beyond the transport's cap is refused before it is sent (V1-4)", async () => {
    const { environment } = await api.register(aRun());
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/artifact/put?name=x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${environment.CRONSTABLE_STATE_TOKEN}\r\nContent-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n`,
    );
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    expect(String(answer)).toContain(
      '{"error": "Maximum request body size 165536 exceeded, actual body size 99999999999"}',
    );
    socket.destroy();
  });

  test("a body without a stated length is cut off at the cap", async () => {
    const script = (await api.register(aRun())).environment;
    const headers = {
      Authorization: `Bearer ${script.CRONSTABLE_STATE_TOKEN}`,
      "Transfer-Encoding": "chunked",
      Connection: "keep-alive",
    };
    const answer = await wire(api.url, { method: "POST", path: "/v1/kv/set", headers, body: "x".repeat(300_000) });
    expect(answer.status).toBe(413);
    expect(answer.text).toMatch(/^\{"error": "Maximum request body size 165536 exceeded, actual body size \d+"\}$/);
  });

  test("a request line without end is refused", async () => {
    const script = scriptOf((await api.register(aRun())).environment);
    expect(await script.ask("GET", `/v1/kv/get?key=${"x".repeat(40_000)}`)).toBe(
      '431 {"error": "the request line and headers are too large"}',
    );
  });

  test("what is no HTTP is told so", async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.write("\u0016\u0003\u0001 hello\r\n\r\n");
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(String(answer)).toContain('{"error": "the request is not valid HTTP"}');
    socket.destroy();
  });

  test("a run may not hold locks without end", async () => {
    const script = scriptOf((await api.register(aRun({ name: "greedy" }))).environment);
    const statuses: number[] = [];
    for (let at = 0; at < 1030; at += 103) {
      const some = Array.from({ length: 103 }, (_, index) =>
        script.send("POST", "/v1/lock/acquire", JSON.stringify({ name: `lock-${at + index}` })),
      );
      statuses.push(...(await Promise.all(some)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200).length).toBe(1024);
    expect(statuses.filter((status) => status === 429).length).toBe(6);
  });
});

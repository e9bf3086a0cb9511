import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startJobApi } from "../../src/jobapi/job-api.ts";
import { CERTIFICATES_CHECK_MS, SECRETS_PATIENCE_MS } from "../../src/jobapi/limits.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { memoryMedium } from "../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../src/store/memory/open.ts";
import { selfSigned } from "../support/certificate.ts";
import { aJob, aRun, jobApiDefaults, literalSecrets, startEndpoint } from "../support/job-api.ts";
import { logLines } from "../support/log-lines.ts";
import { scriptOf, wire } from "../support/wire.ts";

const noSource = { value: null, fromFile: null, fromEnvVar: null };

describe("what a run is given", () => {
  test("is the address, its token, and who it is (JAP-1)", async () => {
    const api = await startEndpoint();
    const { environment, missingSecrets } = await api.register(aRun({ runId: "0123", attempt: 3 }));
    expect(environment).toEqual({
      CRONSTABLE_STATE_URL: api.url,
      CRONSTABLE_STATE_TOKEN: expect.stringMatching(/^[0-9a-f]{64}$/),
      CRONSTABLE_RUN_ID: "0123",
      CRONSTABLE_JOB_NAME: "holder",
      CRONSTABLE_ATTEMPT: "3",
      CRONSTABLE_SCHEDULED_AT: "2026-11-30T08:49:00+00:00",
      CRONSTABLE_HOST: "node-a",
    });
    expect(api.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(missingSecrets).toEqual([]);
    await api.stop();
  });

  test("is an empty text for a slot that never was", async () => {
    const api = await startEndpoint();
    const { environment } = await api.register(aRun({ scheduledAt: null }));
    expect(environment.CRONSTABLE_SCHEDULED_AT).toBe("");
    expect(await scriptOf(environment).ask("GET", "/v1/run")).toContain('"scheduledAt": null');
    await api.stop();
  });

  test("is the scope it acts in, its own name unless the launch says another (D-XCM-8)", async () => {
    const api = await startEndpoint();
    const task = aRun({ name: "etl.load", defaultScope: "dagxcom/etl/9771" });
    const scripts = [await api.register(aRun({ name: "plain" })), await api.register(task)];
    const [plain, load] = scripts.map(({ environment }) => scriptOf(environment));
    expect(await plain?.ask("GET", "/v1/kv/list")).toBe('200 {"scope": "plain", "keys": []}');
    expect(await load?.ask("GET", "/v1/kv/list")).toBe('200 {"scope": "dagxcom/etl/9771", "keys": []}');
    await api.stop();
  });
});

describe("secrets", () => {
  test("that cannot be read are named in the log, and the run starts without them (SEC-2)", async () => {
    const { log, lines } = logLines();
    const api = await startEndpoint({ log });
    const secrets = [
      { name: "GOOD", source: { ...noSource, value: "s3cret" } },
      { name: "BAD", source: { ...noSource, fromFile: "/nowhere" } },
    ];
    const { environment, missingSecrets } = await api.register(aRun({ job: aJob("holder", { secrets }) }));
    expect(missingSecrets).toEqual([{ name: "BAD", problem: "it cannot be read" }]);
    expect(lines).toContain("WARNING Job holder: secret 'BAD' is not staged for this run: it cannot be read");
    expect(lines.join("\n")).not.toContain("s3cret");
    const script = scriptOf(environment);
    expect(await script.ask("GET", "/v1/secret/list")).toBe('200 {"names": ["GOOD"]}');
    expect(await script.ask("GET", "/v1/secret/get?name=BAD")).toMatch(/^404 /);
    await api.stop();
  });

  test("that do not come in time do not hold the launch up", async () => {
    const clock = simulatedClock(0);
    const api = await startEndpoint({ clock, resolveSecret: () => new Promise(() => undefined) });
    const registering = api.register(aRun({ job: aJob("holder", { secrets: [{ name: "S", source: noSource }] }) }));
    await clock.runUntilSettled(SECRETS_PATIENCE_MS);
    expect((await registering).missingSecrets).toEqual([{ name: "S", problem: "no answer within 10 s" }]);
    await api.stop();
  });

  test("are read anew for each run, and never kept in the store (SEC-1)", async () => {
    const medium = memoryMedium();
    let version = 0;
    const api = await startEndpoint({
      medium,
      resolveSecret: async () => ({ kind: "secret", text: `version ${++version}` }),
    });
    const job = aJob("holder", { secrets: [{ name: "S", source: noSource }] });
    const runs = [await api.register(aRun({ job })), await api.register(aRun({ job }))];
    const answers = runs.map(({ environment }) => scriptOf(environment).ask("GET", "/v1/secret/get?name=S"));
    expect(await Promise.all(answers)).toEqual(['200 {"value": "version 1"}', '200 {"value": "version 2"}']);
    expect([medium.documents.size, medium.streams.size, medium.blobs.size]).toEqual([0, 0, 0]);
    await api.stop();
  });

  test("of a run that is released before they came are not staged", async () => {
    let give = (_text: string): void => undefined;
    const secret = new Promise<string>((resolve) => {
      give = resolve;
    });
    const api = await startEndpoint({ resolveSecret: async () => ({ kind: "secret", text: await secret }) });
    const run = aRun({ job: aJob("holder", { secrets: [{ name: "S", source: noSource }] }) });
    const registering = api.register(run);
    await api.release(run.runId);
    give("late");
    const { environment } = await registering;
    expect(await scriptOf(environment).ask("GET", "/v1/secret/get?name=S")).toMatch(/^401 /);
    await api.stop();
  });
});

describe("a store in trouble", () => {
  const calls = [
    ["GET", "/v1/kv/get?key=k", undefined],
    ["POST", "/v1/kv/set", '{"key":"k"}'],
    ["POST", "/v1/kv/delete", '{"key":"k"}'],
    ["GET", "/v1/kv/list", undefined],
    ["GET", "/v1/cursor/get?name=n", undefined],
    ["POST", "/v1/cursor/advance", '{"name":"n","value":1}'],
    ["POST", "/v1/idempotency/claim", '{"key":"k"}'],
    ["POST", "/v1/idempotency/release", '{"key":"k"}'],
    ["POST", "/v1/artifact/put?name=n", "x"],
    ["GET", "/v1/artifact/get?name=n", undefined],
    ["GET", "/v1/artifact/list", undefined],
    ["POST", "/v1/lock/acquire", '{"name":"n"}'],
  ] as const;
  const unavailable = '503 {"error": "state backend unavailable; the reason is in the cronstable log"}';

  test.each(["fails", "is silent"])("that %s makes every call a 503 that tells nothing of its places", async (how) => {
    const clock = simulatedClock(0);
    const { log, lines } = logLines();
    const api = await startEndpoint({
      clock,
      log,
      conduct: () =>
        how === "fails"
          ? { kind: "fail", message: "EIO: i/o error, open '/var/lib/cronstable/kv'" }
          : { kind: "silent", lands: false },
    });
    const { environment } = await api.register(aRun());
    const script = scriptOf(environment);
    for (const [method, path, body] of calls) {
      const answer = script.ask(method, path, body);
      const ticking = setInterval(() => clock.runUntil(clock.wallNow() + 1000), 2);
      expect(await answer, path).toBe(unavailable);
      clearInterval(ticking);
    }
    const why = how === "fails" ? "EIO: i/o error, open '/var/lib/cronstable/kv'" : "no answer within 10 s";
    expect(lines).toContain(`WARNING state: a job's request was not served: ${why}`);
    expect(await script.ask("GET", "/v1/run")).toMatch(/^200 /);
    await api.stop();
  });

  test("that is closed is no backend", async () => {
    const store = openMemoryStore({ medium: memoryMedium(), clock: systemClock, writer: "aaaaaaaaaaaa" });
    const api = await startEndpoint({ store });
    const script = scriptOf((await api.register(aRun())).environment);
    await store.close(0);
    expect(await script.ask("GET", "/v1/kv/get?key=k")).toBe('503 {"error": "state backend is unavailable"}');
    await api.stop();
  });

  test("with a bug of ours in it is a 500, and the log has the reason", async () => {
    const { log, lines } = logLines();
    const store = openMemoryStore({ medium: memoryMedium(), clock: systemClock, writer: "aaaaaaaaaaaa" });
    const documents = {
      ...store.documents,
      peek: () => {
        throw new TypeError("oops /var/lib");
      },
    };
    const api = await startEndpoint({ store: { ...store, documents }, log });
    const script = scriptOf((await api.register(aRun())).environment);
    expect(await script.ask("GET", "/v1/kv/get?key=k")).toBe(
      '500 {"error": "internal error; the reason is in the cronstable log"}',
    );
    expect(lines.at(-1)).toMatch(/^ERROR state: a job's request GET \/v1\/kv\/get failed: TypeError: oops/);
    await api.stop();
  });
});

test("a payload that was collected is gone, which is another thing than absent", async () => {
  const medium = memoryMedium();
  const api = await startEndpoint({ medium });
  const script = scriptOf((await api.register(aRun())).environment);
  await script.ask("POST", "/v1/artifact/put?name=report", "x");
  medium.blobs.clear();
  expect(await script.ask("GET", "/v1/artifact/get?name=report")).toBe(
    '410 {"error": "artifact \'report\' record survives but its payload blob is gone (garbage collected)"}',
  );
  await api.stop();
});

test("a claim with a time to live can be won again when it is over, not before", async () => {
  const clock = simulatedClock(1_000_000_000_000);
  const api = await startEndpoint({ clock });
  const script = scriptOf((await api.register(aRun())).environment);
  const claim = () => script.ask("POST", "/v1/idempotency/claim", '{"key":"k","ttl":60}');
  expect(await claim()).toBe('200 {"fresh": true, "claimedAt": 1000000000.0}');
  clock.runUntil(1_000_000_059_999);
  expect(await claim()).toBe('200 {"fresh": false, "claimedAt": 1000000000.0}');
  clock.runUntil(1_000_000_060_000);
  expect(await claim()).toBe('200 {"fresh": true, "claimedAt": 1000000060.0}');
  await api.stop();
});

test("a hundred claims at once have one winner, and a hundred advances end at the furthest (IDM-1)", async () => {
  const medium = memoryMedium();
  const apis = [await startEndpoint({ medium }), await startEndpoint({ medium })];
  const scripts = await Promise.all(apis.map(async (api) => scriptOf((await api.register(aRun())).environment)));
  const hundred = Array.from({ length: 100 }, (_, index) => ({ script: scripts[index % 2], index }));
  const claims = await Promise.all(
    hundred.map(({ script }) => script?.ask("POST", "/v1/idempotency/claim", '{"key":"k"}')),
  );
  expect(claims.filter((answer) => answer?.includes('"fresh": true')).length).toBe(1);
  await Promise.all(
    hundred.map(({ script, index }) =>
      script?.ask("POST", "/v1/cursor/advance", `{"name":"n","value":${(index * 37) % 101}}`),
    ),
  );
  expect(await scripts[0]?.ask("GET", "/v1/cursor/get?name=n")).toContain('"value": 100');
  await Promise.all(apis.map((api) => api.stop()));
});

describe("the listener", () => {
  test("that cannot be bound is said once, and jobs run without it (JAP-4)", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" ? address?.port : 0;
    const { log, lines } = logLines();
    const api = await startJobApi({
      store: openMemoryStore({ medium: memoryMedium(), clock: systemClock, writer: "aaaaaaaaaaaa" }),
      config: { ...jobApiDefaults, listen: `127.0.0.1:${port}` },
      clock: systemClock,
      log,
      host: "node-a",
      procId: "aaaaaaaaaaaa",
      resolveSecret: literalSecrets,
    });
    other.close();
    expect(api).toBe(null);
    expect(lines).toEqual([
      `ERROR state: job API failed to start (jobs will run without the loopback state endpoint): listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
    ]);
  });

  test.each([
    ["localhost:0", /^http:\/\/localhost:\d+$/],
    ["http://127.0.0.1:0", /^http:\/\/127\.0\.0\.1:\d+$/],
    ["http://[::1]:0/", /^http:\/\/\[::1\]:\d+$/],
    ["0.0.0.0:0", /^http:\/\/127\.0\.0\.1:\d+$/],
    ["[::]:0", /^http:\/\/\[::1\]:\d+$/],
    ["*:0", /^http:\/\/127\.0\.0\.1:\d+$/],
  ])("at %s is told to jobs as an address they reach", async (listen, told) => {
    const { log, lines } = logLines();
    const api = await startEndpoint({ config: { listen }, log });
    expect(api.url).toMatch(told);
    expect(lines).toEqual([`INFO state job API listening on ${api.url}`]);
    expect((await wire(api.url, { path: "/v1/run" })).status).toBe(401);
    await api.stop();
    await expect(wire(api.url, { path: "/v1/run" })).rejects.toThrow(/ECONNREFUSED/);
  });

  test("lets nobody hold a connection without asking for something", async () => {
    const api = await startEndpoint();
    const { hostname, port } = new URL(api.url);
    const slow = connect(Number(port), hostname);
    slow.write("GET /v1/run HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    const dribble = setInterval(() => slow.write("x"), 200);
    const [answer] = await once(slow, "data");
    clearInterval(dribble);
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(String(answer)).toContain('{"error": "the request took too long to arrive"}');
    slow.destroy();
    await api.stop();
  });

  test("stops with waiting and half-sent requests open, and answers the waiting ones", async () => {
    let asked = 0;
    const medium = memoryMedium();
    const elsewhere = await startEndpoint({ medium });
    const api = await startEndpoint({
      medium,
      conduct: (operation) => {
        if (operation === "acquireLease") asked++;
        return { kind: "answer" };
      },
    });
    const { environment } = await api.register(aRun());
    const script = scriptOf(environment);
    const other = scriptOf((await elsewhere.register(aRun())).environment);
    await other.ask("POST", "/v1/lock/acquire", '{"name":"m"}');
    const waiting = script.ask("POST", "/v1/lock/acquire", '{"name":"m","wait":true,"blockSeconds":600}');
    const { hostname, port } = new URL(api.url);
    const half = connect(Number(port), hostname);
    half.on("error", () => undefined);
    const authorization = `Authorization: Bearer ${environment.CRONSTABLE_STATE_TOKEN}`;
    half.write(`POST /v1/kv/set HTTP/1.1\r\nHost: x\r\n${authorization}\r\nContent-Length: 10\r\n\r\n{`);
    await once(half, "connect");
    await expect.poll(() => asked, { timeout: 10_000 }).toBe(1);
    await api.stop();
    await elsewhere.stop();
    expect(await waiting).toBe('200 {"acquired": false, "runEnded": true}');
    await once(half, "close");
  });
});

describe("over TLS", () => {
  let folder = "";
  const file = (name: string): string => join(folder, name);
  const renew = (): void => {
    const { cert, key } = selfSigned();
    writeFileSync(file("cert.pem"), cert);
    writeFileSync(file("key.pem"), key);
  };
  const shownBy = (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { ca: readFileSync(file("cert.pem")), path: "/v1/run", agent: false }, (response) => {
        response.resume();
        resolve(String(response.statusCode));
      });
      sent.on("error", reject);
      sent.end();
    });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "cronstable-tls-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("a new certificate is served as soon as it loads, and a broken one never", async () => {
    renew();
    const clock = simulatedClock(0);
    const { log, lines } = logLines();
    const tls = { cert: file("cert.pem"), key: file("key.pem"), ca: file("cert.pem") };
    const api = await startEndpoint({ clock, log, config: { listen: "https://127.0.0.1:0", tls } });
    expect(api.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const { environment } = await api.register(aRun());
    expect(environment.CRONSTABLE_STATE_CACERT).toBe(tls.ca);
    expect(await shownBy(api.url)).toBe("401");

    const whole = readFileSync(tls.key);
    writeFileSync(tls.key, whole.subarray(0, 40));
    utimesSync(tls.key, 1, 1);
    const said = async (text: string): Promise<void> => {
      clock.runUntil(clock.wallNow() + CERTIFICATES_CHECK_MS);
      await expect
        .poll(() => lines.filter((line) => line.includes(text)).length, { timeout: 10_000 })
        .toBeGreaterThan(0);
    };
    await said("keeps its certificate, the new one does not load yet");
    writeFileSync(tls.key, whole);
    expect(await shownBy(api.url)).toBe("401");

    renew();
    await said("serves a new certificate");
    expect(await shownBy(api.url)).toBe("401");
    await api.stop();
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobApi } from "../../src/jobapi/job-api.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { aJob, aRun, startEndpoint } from "../support/job-api.ts";
import { scriptOf } from "../support/wire.ts";

// The clock stands still: 1796028509.368 s after the epoch.
const clock = simulatedClock(1_796_028_509_368);
const secrets = [{ name: "API_TOKEN", source: { value: "tök\nen", fromFile: null, fromEnvVar: null } }];

let api: JobApi;
beforeAll(async () => {
  api = await startEndpoint({ clock, config: { maxValueBytes: 64, maxArtifactBytes: 100_000 } });
});
afterAll(() => api.stop());

/** Each script is a run of a job of its own, so that they do not meet in the store. */
async function run(name: string, allowed: readonly string[] = []) {
  const job = aJob(name, { secrets, stateAllowedScopes: allowed });
  const { environment } = await api.register({ ...aRun(), runId: `run-of-${name}`, job, attempt: 2 });
  return scriptOf(environment);
}

type Step = readonly [method: string, path: string, body: string | undefined, answer: string];

/** What goes over the wire, to the byte. */
const exchanges: Readonly<Record<string, readonly Step[]>> = {
  "a run learns who it is": [
    [
      "GET",
      "/v1/run",
      undefined,
      '200 {"runId": "run-of-a run learns who it is", "job": "a run learns who it is", "attempt": 2, "scheduledAt": "2026-11-30T08:49:00+00:00", "host": "node-a", "defaultScope": "a run learns who it is"}',
    ],
  ],
  "a value is set, read, listed and deleted": [
    [
      "POST",
      "/v1/kv/set",
      '{"key":"b","value":{"z":1,"a":[null,true,"é"]}}',
      '200 {"ok": true, "updatedAt": 1796028509.368}',
    ],
    ["POST", "/v1/kv/set", '{"key":"a","value":"x"}', '200 {"ok": true, "updatedAt": 1796028509.368}'],
    [
      "GET",
      "/v1/kv/get?key=b",
      undefined,
      '200 {"value": {"a": [null, true, "\\u00e9"], "z": 1}, "updatedAt": 1796028509.368}',
    ],
    [
      "GET",
      "/v1/kv/list",
      undefined,
      '200 {"scope": "a value is set, read, listed and deleted", "keys": [{"key": "a", "value": "x", "updatedAt": 1796028509.368}, {"key": "b", "value": {"a": [null, true, "\\u00e9"], "z": 1}, "updatedAt": 1796028509.368}]}',
    ],
    ["POST", "/v1/kv/delete", '{"key":"b"}', '200 {"existed": true}'],
    ["POST", "/v1/kv/delete", '{"key":"b"}', '200 {"existed": false}'],
    [
      "GET",
      "/v1/kv/get?key=b",
      undefined,
      "404 {\"error\": \"key 'b' is not set in scope 'a value is set, read, listed and deleted'\"}",
    ],
  ],
  "a stored null is there": [
    ["POST", "/v1/kv/set", '{"key":"n"}', '200 {"ok": true, "updatedAt": 1796028509.368}'],
    ["GET", "/v1/kv/get?key=n", undefined, '200 {"value": null, "updatedAt": 1796028509.368}'],
  ],
  "numbers keep their value and their type": [
    [
      "POST",
      "/v1/kv/set",
      '{"key":"n","value":[9007199254740993,18446744073709551615,1.0,1e16,1e-5,-0.0,0.1]}',
      '200 {"ok": true, "updatedAt": 1796028509.368}',
    ],
    [
      "GET",
      "/v1/kv/get?key=n",
      undefined,
      '200 {"value": [9007199254740993, 18446744073709551615, 1.0, 1e+16, 1e-05, -0.0, 0.1], "updatedAt": 1796028509.368}',
    ],
  ],
  "a value has a size, that of its text as it is kept": [
    [
      "POST",
      "/v1/kv/set",
      JSON.stringify({ key: "k", value: "x".repeat(62) }),
      '200 {"ok": true, "updatedAt": 1796028509.368}',
    ],
    [
      "POST",
      "/v1/kv/set",
      JSON.stringify({ key: "k", value: "x".repeat(63) }),
      '413 {"error": "value of 65 bytes exceeds the configured limit of 64 bytes"}',
    ],
    [
      "POST",
      "/v1/kv/set",
      JSON.stringify({ key: "k", value: "é".repeat(11) }),
      '413 {"error": "value of 68 bytes exceeds the configured limit of 64 bytes"}',
    ],
    [
      "POST",
      "/v1/cursor/advance",
      JSON.stringify({ name: "k", value: "x".repeat(63) }),
      '413 {"error": "value of 65 bytes exceeds the configured limit of 64 bytes"}',
    ],
  ],
  "a value that other programs could not read is refused": [
    [
      "POST",
      "/v1/kv/set",
      '{"key":"k","value":18446744073709551616}',
      '400 {"error": "value is not portable across the fleet: integer 18446744073709551616 is out of range"}',
    ],
    [
      "POST",
      "/v1/kv/set",
      '{"key":"k","value":1e999}',
      '400 {"error": "value is not portable across the fleet: 1e999 is out of range"}',
    ],
    [
      "POST",
      "/v1/kv/set",
      '{"key":"k","value":"\\ud800"}',
      '400 {"error": "value is not portable across the fleet: a string holds half of a surrogate pair"}',
    ],
    [
      "POST",
      "/v1/kv/set",
      '{"key":"\\ud800","value":1}',
      '400 {"error": "value is not portable across the fleet: a string holds half of a surrogate pair"}',
    ],
    [
      "POST",
      "/v1/cursor/advance",
      '{"name":"k","value":1e999}',
      '400 {"error": "value is not portable across the fleet: 1e999 is out of range"}',
    ],
  ],
  "a body is a JSON object whatever its type is said to be": [
    ["POST", "/v1/kv/set", "", '400 {"error": "key is required"}'],
    ["POST", "/v1/kv/set", "{", '400 {"error": "request body is not valid JSON"}'],
    ["POST", "/v1/kv/set", '{"key":NaN}', '400 {"error": "request body is not valid JSON"}'],
    ["POST", "/v1/kv/set", '\ufeff{"key":"k"}', '400 {"error": "request body is not valid JSON"}'],
    ["POST", "/v1/kv/set", "[]", '400 {"error": "request body must be a JSON object"}'],
    ["POST", "/v1/kv/set", '"key"', '400 {"error": "request body must be a JSON object"}'],
    ["POST", "/v1/kv/set", '{"key":""}', '400 {"error": "key is required"}'],
    ["POST", "/v1/kv/set", '{"key":null}', '400 {"error": "key is required"}'],
    ["POST", "/v1/kv/set", '{"key":7}', '400 {"error": "key must be a string"}'],
    ["POST", "/v1/kv/set", '{"key":"k","scope":7}', '400 {"error": "scope must be a string"}'],
    ["GET", "/v1/kv/get", undefined, '400 {"error": "key is required"}'],
    ["GET", "/v1/kv/get?key=", undefined, '400 {"error": "key is required"}'],
  ],
  "a cursor only grows": [
    [
      "GET",
      "/v1/cursor/get?name=w",
      undefined,
      "404 {\"error\": \"cursor 'w' is not set in scope 'a cursor only grows'\"}",
    ],
    ["POST", "/v1/cursor/advance", '{"name":"w"}', '400 {"error": "value is required"}'],
    ["POST", "/v1/cursor/advance", '{"name":"w","value":9}', '200 {"value": 9, "advanced": true}'],
    ["POST", "/v1/cursor/advance", '{"name":"w","value":10}', '200 {"value": 10, "advanced": true}'],
    ["POST", "/v1/cursor/advance", '{"name":"w","value":9}', '200 {"value": 10, "advanced": false}'],
    ["POST", "/v1/cursor/advance", '{"name":"w","value":10.0}', '200 {"value": 10, "advanced": false}'],
    ["POST", "/v1/cursor/advance", '{"name":"w","value":10.5}', '200 {"value": 10.5, "advanced": true}'],
    [
      "POST",
      "/v1/cursor/advance",
      '{"name":"w","value":18446744073709551615}',
      '200 {"value": 18446744073709551615, "advanced": true}',
    ],
    [
      "POST",
      "/v1/cursor/advance",
      '{"name":"w","value":18446744073709551614}',
      '200 {"value": 18446744073709551615, "advanced": false}',
    ],
    [
      "POST",
      "/v1/cursor/advance",
      '{"name":"w","value":"11"}',
      '409 {"error": "cursor \'w\' holds a int but was advanced with a str; advance it with a comparable value or pass force"}',
    ],
    ["POST", "/v1/cursor/advance", '{"name":"w","value":"9","force":true}', '200 {"value": "9", "advanced": true}'],
    ["POST", "/v1/cursor/advance", '{"name":"w","value":"10"}', '200 {"value": "9", "advanced": false}'],
    ["GET", "/v1/cursor/get?name=w", undefined, '200 {"value": "9", "updatedAt": 1796028509.368}'],
    [
      "POST",
      "/v1/cursor/advance",
      '{"name":"w","value":1.5}',
      '409 {"error": "cursor \'w\' holds a str but was advanced with a float; advance it with a comparable value or pass force"}',
    ],
  ],
  "cursors of other types": [
    ["POST", "/v1/cursor/advance", '{"name":"iso","value":"2026-06"}', '200 {"value": "2026-06", "advanced": true}'],
    ["POST", "/v1/cursor/advance", '{"name":"iso","value":"2026-07"}', '200 {"value": "2026-07", "advanced": true}'],
    ["POST", "/v1/cursor/advance", '{"name":"uni","value":"\uffff"}', '200 {"value": "\\uffff", "advanced": true}'],
    [
      "POST",
      "/v1/cursor/advance",
      '{"name":"uni","value":"\u{10000}"}',
      '200 {"value": "\\ud800\\udc00", "advanced": true}',
    ],
    ["POST", "/v1/cursor/advance", '{"name":"b","value":true}', '200 {"value": true, "advanced": true}'],
    ["POST", "/v1/cursor/advance", '{"name":"b","value":2}', '200 {"value": 2, "advanced": true}'],
    ["POST", "/v1/cursor/advance", '{"name":"a","value":[1,"a"]}', '200 {"value": [1, "a"], "advanced": true}'],
    ["POST", "/v1/cursor/advance", '{"name":"a","value":[1,"b"]}', '200 {"value": [1, "b"], "advanced": true}'],
    [
      "POST",
      "/v1/cursor/advance",
      '{"name":"a","value":[1,2]}',
      '409 {"error": "cursor \'a\' holds a list but was advanced with a list; advance it with a comparable value or pass force"}',
    ],
    ["POST", "/v1/cursor/advance", '{"name":"n","value":null}', '200 {"value": null, "advanced": true}'],
    ["POST", "/v1/cursor/advance", '{"name":"n","value":{"a":1}}', '200 {"value": {"a": 1}, "advanced": true}'],
    [
      "POST",
      "/v1/cursor/advance",
      '{"name":"n","value":null}',
      '409 {"error": "cursor \'n\' holds a dict but was advanced with a NoneType; advance it with a comparable value or pass force"}',
    ],
    [
      "POST",
      "/v1/cursor/advance",
      '{"name":"n","value":false}',
      '409 {"error": "cursor \'n\' holds a dict but was advanced with a bool; advance it with a comparable value or pass force"}',
    ],
  ],
  "a key is won once": [
    ["POST", "/v1/idempotency/claim", '{"key":"charge"}', '200 {"fresh": true, "claimedAt": 1796028509.368}'],
    ["POST", "/v1/idempotency/claim", '{"key":"charge","ttl":60}', '200 {"fresh": false, "claimedAt": 1796028509.368}'],
    ["POST", "/v1/idempotency/release", '{"key":"charge"}', '200 {"released": true}'],
    ["POST", "/v1/idempotency/release", '{"key":"charge"}', '200 {"released": false}'],
    ["POST", "/v1/idempotency/claim", '{"key":"charge","ttl":-1}', '200 {"fresh": true, "claimedAt": 1796028509.368}'],
    ["POST", "/v1/idempotency/claim", '{"key":"k","ttl":"60"}', '400 {"error": "ttl must be a number"}'],
    ["POST", "/v1/idempotency/claim", '{"key":"k","ttl":1e999}', '400 {"error": "ttl must be a finite number"}'],
    ["POST", "/v1/idempotency/claim", "{}", '400 {"error": "key is required"}'],
  ],
  "an artifact is published and read": [
    [
      "GET",
      "/v1/artifact/get?name=r",
      undefined,
      "404 {\"error\": \"artifact 'r' not found in scope 'an artifact is published and read'\"}",
    ],
    [
      "POST",
      "/v1/artifact/put?name=r",
      "payload-1\n",
      '200 {"sha256": "62bfa4e9c1c91fd99ab4e82b2cbfbc2699cc123044e7b0ad7cc822197ac5c262", "size": 10}',
    ],
    [
      "POST",
      "/v1/artifact/put?name=r",
      "payload-2\n",
      '200 {"sha256": "8fbd2641343b3805d4e39d8441ba973b295a99e56763a304a4885dc4f0ed3f38", "size": 10}',
    ],
    [
      "POST",
      "/v1/artifact/put?name=a",
      "",
      '200 {"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "size": 0}',
    ],
    ["GET", "/v1/artifact/get?name=r", undefined, "200 payload-2\n"],
    [
      "GET",
      "/v1/artifact/list",
      undefined,
      '200 {"scope": "an artifact is published and read", "artifacts": [{"name": "a", "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "size": 0, "at": 1796028509.368}, {"name": "r", "sha256": "8fbd2641343b3805d4e39d8441ba973b295a99e56763a304a4885dc4f0ed3f38", "size": 10, "at": 1796028509.368}]}',
    ],
    ["POST", "/v1/artifact/put", "x", '400 {"error": "name is required"}'],
    [
      "POST",
      "/v1/artifact/put?name=big",
      "x".repeat(100_001),
      '413 {"error": "artifact of 100001 bytes exceeds the configured limit of 100000 bytes"}',
    ],
    [
      "POST",
      "/v1/artifact/put?name=big",
      "x".repeat(165_537),
      '413 {"error": "Maximum request body size 165536 exceeded, actual body size 165537"}',
    ],
  ],
  "what a lock cannot be asked for": [
    ["POST", "/v1/lock/acquire", "{}", '400 {"error": "name is required"}'],
    ["POST", "/v1/lock/acquire", '{"name":"m","permits":0}', '400 {"error": "permits must be >= 1"}'],
    ["POST", "/v1/lock/acquire", '{"name":"m","permits":1025}', '400 {"error": "permits must be <= 1024"}'],
    ["POST", "/v1/lock/acquire", '{"name":"m","permits":1.0}', '400 {"error": "permits must be an integer"}'],
    ["POST", "/v1/lock/acquire", '{"name":"m","permits":"1"}', '400 {"error": "permits must be an integer"}'],
    ["POST", "/v1/lock/acquire", '{"name":"m","permits":true}', '400 {"error": "permits must be an integer"}'],
    ["POST", "/v1/lock/acquire", '{"name":"m","ttl":"9"}', '400 {"error": "ttl and blockSeconds must be numbers"}'],
    [
      "POST",
      "/v1/lock/acquire",
      '{"name":"m","blockSeconds":"9"}',
      '400 {"error": "ttl and blockSeconds must be numbers"}',
    ],
    ["POST", "/v1/lock/acquire", '{"name":"m","ttl":1e999}', '400 {"error": "ttl must be a finite number"}'],
    ["POST", "/v1/lock/release", "{}", '400 {"error": "token is required"}'],
    ["POST", "/v1/lock/release", '{"token":"0123"}', '200 {"released": false}'],
  ],
  "secrets are told to their run": [
    ["GET", "/v1/secret/list", undefined, '200 {"names": ["API_TOKEN"]}'],
    ["GET", "/v1/secret/get?name=API_TOKEN", undefined, '200 {"value": "t\\u00f6k\\nen"}'],
    ["GET", "/v1/secret/get?name=X", undefined, '404 {"error": "secret \'X\' is not staged for this run"}'],
    ["GET", "/v1/secret/get", undefined, '400 {"error": "name is required"}'],
  ],
  "what is not there": [
    ["GET", "/v1/nothing", undefined, '404 {"error": "404: Not Found"}'],
    ["GET", "/v1/run/", undefined, '404 {"error": "404: Not Found"}'],
    ["GET", "//v1/run", undefined, '404 {"error": "404: Not Found"}'],
    ["GET", "/V1/run", undefined, '404 {"error": "404: Not Found"}'],
    ["GET", "/v1/%72un", undefined, '404 {"error": "404: Not Found"}'],
    ["GET", "/v1/kv/../run", undefined, '404 {"error": "404: Not Found"}'],
    ["GET", "/__proto__", undefined, '404 {"error": "404: Not Found"}'],
    ["POST", "/v1/run", undefined, '405 {"error": "405: Method Not Allowed"}'],
    ["GET", "/v1/kv/set", undefined, '405 {"error": "405: Method Not Allowed"}'],
    ["HEAD", "/v1/run", undefined, "200 "],
  ],
};

describe.each(Object.entries(exchanges))("%s", (title, steps) => {
  test("to the byte (V1-2, V1-3, V1-5, KV-1, CUR-2, ART-2)", async () => {
    const script = await run(title);
    const answers: string[] = [];
    for (const [method, path, body] of steps) answers.push(await script.ask(method, path, body));
    expect(answers).toEqual(steps.map(([, , , answer]) => answer));
  });
});

test("a lock is handed out with its fence and its time to live, and handed back", async () => {
  const script = await run("locker");
  const first = await script.ask("POST", "/v1/lock/acquire", '{"name":"m"}');
  expect(first).toMatch(/^200 \{"acquired": true, "token": "[0-9a-f]{32}", "slot": 0, "fence": 1, "ttl": 30\.0\}$/);
  expect(await script.ask("POST", "/v1/lock/acquire", '{"name":"m","wait":true}')).toBe('200 {"acquired": false}');
  const second = await script.ask("POST", "/v1/lock/acquire", '{"name":"m","permits":2,"ttl":1}');
  expect(second).toMatch(/"slot": 1, "fence": 1, "ttl": 5\.0\}$/);
  const [, token] = /"token": "([0-9a-f]+)"/.exec(first) ?? [];
  expect(await script.ask("POST", "/v1/lock/release", `{"token":"${token}"}`)).toBe('200 {"released": true}');
  expect(await script.ask("POST", "/v1/lock/release", `{"token":"${token}"}`)).toBe('200 {"released": false}');
  expect(await script.ask("POST", "/v1/lock/acquire", '{"name":"m","ttl":9e9}')).toMatch(
    /"slot": 0, "fence": 2, "ttl": 2592000\.0\}$/,
  );
});

test("an artifact comes as its bytes, with hash and size beside it", async () => {
  const script = await run("publisher");
  const payload = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  await script.send("POST", "/v1/artifact/put?name=bytes", payload);
  const { status, headers, bytes } = await script.send("GET", "/v1/artifact/get?name=bytes");
  expect(status).toBe(200);
  expect(bytes).toEqual(Buffer.from(payload));
  expect(headers).toMatchObject({
    "content-type": "application/octet-stream",
    "content-length": "256",
    "x-cronstable-sha256": "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880",
    "x-cronstable-size": "256",
  });
});

test("a wrong method is told which one is right (V1-3)", async () => {
  const script = await run("wrong method");
  expect((await script.send("DELETE", "/v1/kv/get")).headers.allow).toBe("GET,HEAD");
  expect((await script.send("GET", "/v1/kv/set")).headers.allow).toBe("POST");
});

test("a value may be nested 126 deep, as deep as every reader of the store goes", async () => {
  const deep = (levels: number) => `{"key":"deep","value":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  const large = await startEndpoint({ clock });
  const { environment } = await large.register(aRun());
  const script = scriptOf(environment);
  expect(await script.ask("POST", "/v1/kv/set", deep(126))).toMatch(/^200 /);
  expect(await script.ask("POST", "/v1/kv/set", deep(127))).toBe(
    '400 {"error": "value is not portable across the fleet: nested more than 128 levels deep"}',
  );
  expect(await script.ask("POST", "/v1/kv/set", deep(100_000))).toMatch(/^400 /);
  await large.stop();
});

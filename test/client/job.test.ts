import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { artifact, cursor, idempotency, JobApiError, kv, lock, secret, xcom } from "../../src/client/job/job.ts";
import type { JobApi } from "../../src/jobapi/job-api.ts";
import { selfSigned } from "../support/certificate.ts";
import { aJob, aRun, startEndpoint } from "../support/job-api.ts";

let api: JobApi;
beforeAll(async () => {
  api = await startEndpoint();
});
afterAll(() => api.stop());

/** Makes this process the job of a run, for one test. */
async function inJob(name: string, from: JobApi = api): Promise<{ end(): Promise<void> }> {
  const secrets = [{ name: "TOKEN", source: { value: "t0ken", fromFile: null, fromEnvVar: null } }];
  const run = aRun({ job: aJob(name, { secrets }) });
  const { environment } = await from.register(run);
  for (const [variable, value] of Object.entries(environment)) vi.stubEnv(variable, value);
  return { end: () => from.release(run.runId) };
}

beforeEach(async ({ task }) => {
  await inJob(task.name);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test("kv keeps JSON values between runs", async () => {
  const value = { n: 3, deep: [1.5, null, true, "é"], __proto__: 1 };
  expect(await kv.get("k")).toBe(undefined);
  await kv.set("k", value);
  expect(await kv.get<typeof value>("k")).toEqual(value);
  await kv.set("when", new Date(0));
  expect(await kv.get("when")).toBe("1970-01-01T00:00:00.000Z");
  await kv.set("shared", 1, { scope: "global" });
  expect(await kv.get("shared")).toBe(undefined);
  expect(await kv.get("shared", { scope: "global" })).toBe(1);
  expect(await kv.keys()).toEqual(["k", "when"]);
  expect(await kv.entries()).toEqual(
    new Map<string, unknown>([
      ["k", value],
      ["when", "1970-01-01T00:00:00.000Z"],
    ]),
  );
  expect(await kv.delete("k")).toBe(true);
  expect(await kv.delete("k")).toBe(false);
});

test("whole numbers beyond 2^53 stay exact", async () => {
  await kv.set("big", [2n ** 64n - 1n, -(2n ** 63n), 9007199254740991]);
  expect(await kv.get("big")).toEqual([2n ** 64n - 1n, -(2n ** 63n), 9007199254740991]);
});

test.each([
  ["undefined", undefined, "a value of type undefined has no JSON form"],
  ["a function", () => 1, "a value of type function has no JSON form"],
  ["not a number", Number.NaN, "value is not portable across the fleet: NaN is not a finite number"],
  ["too large", 2n ** 64n, /^value is not portable across the fleet: integer 18446744073709551616 is outside/],
])("a value that is %s is refused", async (_what, value, message) => {
  await expect(kv.set("k", value)).rejects.toThrow(message);
});

test("cursor only grows", async () => {
  expect(await cursor.get("w")).toBe(undefined);
  expect(await cursor.advance("w", 10)).toEqual({ value: 10, advanced: true });
  expect(await cursor.advance("w", 9)).toEqual({ value: 10, advanced: false });
  expect(await cursor.advance("w", 9, { force: true })).toEqual({ value: 9, advanced: true });
  await expect(cursor.advance("w", "10")).rejects.toMatchObject({
    name: "JobApiError",
    failure: "refused",
    status: 409,
  });
  expect(await cursor.get<number>("w")).toBe(9);
});

test("idempotency is won once", async () => {
  expect(await idempotency.claim("k")).toBe(true);
  expect(await idempotency.claim("k", { ttlSeconds: 60 })).toBe(false);
  expect(await idempotency.release("k")).toBe(true);
  expect(await idempotency.claim("k")).toBe(true);
});

test("lock is held until it is released", async () => {
  const held = await lock.acquire("m");
  expect(held?.fence).toBe(1);
  expect(await lock.acquire("m")).toBe(null);
  expect(await lock.acquire("m", { permits: 2 })).toMatchObject({ fence: 1 });
  expect(await held?.release()).toBe(true);
  expect(await held?.release()).toBe(false);
});

test("lock.run lets go however the work ends, and does nothing without the lock", async () => {
  expect(await lock.run("m", ({ fence }) => fence)).toEqual({ result: 1 });
  await expect(lock.run("m", () => Promise.reject(new Error("failed work")))).rejects.toThrow("failed work");
  const held = await lock.acquire("m");
  expect(held?.fence).toBe(3);
  expect(await lock.run("m", () => "never")).toBe(null);
  const waiting = lock.run("m", () => "at last", { waitSeconds: 30 });
  await held?.release();
  expect(await waiting).toEqual({ result: "at last" });
});

test("artifact hands bytes over", async () => {
  expect(await artifact.get("r")).toBe(undefined);
  const sha256 = await artifact.put("r", "payload-2\n");
  expect(sha256).toMatch(/^8fbd2641/);
  expect(await artifact.get("r")).toEqual(Buffer.from("payload-2\n"));
  const large = new Uint8Array(1_000_000).fill(7);
  await artifact.put("large", large);
  expect(await artifact.get("large")).toEqual(Buffer.from(large));
  const listed = await artifact.list();
  expect(listed.map(({ name, size }) => [name, size])).toEqual([
    ["large", 1_000_000],
    ["r", 10],
  ]);
  expect(listed[0]?.publishedAt).toBeInstanceOf(Date);
});

test("secret is told to its run", async () => {
  expect(await secret.get("TOKEN")).toBe("t0ken");
  expect(await secret.get("OTHER")).toBe(undefined);
  expect(await secret.list()).toEqual(["TOKEN"]);
});

test("xcom is for tasks of one workflow run", async () => {
  await expect(xcom.push("ids", "[1]")).rejects.toMatchObject({ failure: "not in a job" });
  vi.stubEnv("CRONSTABLE_DAG_XCOM_SCOPE", "global");
  vi.stubEnv("CRONSTABLE_DAG_TASKKEY", "map#1");
  await xcom.push("ids", "[1]");
  expect(await xcom.pull("map", "ids", { mapIndex: 1 })).toEqual(Buffer.from("[1]"));
  expect(await xcom.pull("map", "ids")).toBe(undefined);
  expect(await xcom.list()).toEqual(["map#1/ids"]);
});

describe("a call that does not succeed", () => {
  test("in no job", async () => {
    vi.stubEnv("CRONSTABLE_STATE_URL", undefined);
    await expect(kv.get("k")).rejects.toMatchObject({ failure: "not in a job", status: null });
    await expect(kv.get("k")).rejects.toBeInstanceOf(JobApiError);
  });

  test.each(["ftp://127.0.0.1:1", "127.0.0.1:1", "http://"])("at the address %s", async (url) => {
    vi.stubEnv("CRONSTABLE_STATE_URL", url);
    await expect(kv.get("k")).rejects.toMatchObject({ failure: "not in a job" });
  });

  test("with a token that would be more than a header", async () => {
    vi.stubEnv("CRONSTABLE_STATE_TOKEN", "a\r\nX-Evil: 1");
    await expect(kv.get("k")).rejects.toMatchObject({ failure: "not in a job" });
  });

  test("after its run", async () => {
    const { end } = await inJob("ending");
    await end();
    await expect(kv.get("k")).rejects.toMatchObject({ failure: "refused", status: 401 });
  });

  test("because the connection breaks in the middle of an answer", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    vi.stubEnv("CRONSTABLE_STATE_URL", `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
    await expect(kv.get("k")).rejects.toMatchObject({ failure: "unreachable" });
    server.close();
  });
});

describe("over TLS", () => {
  let folder = "";
  let secure: JobApi;
  const file = (name: string): string => join(folder, name);
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "cronstable-client-"));
    const [own, other] = [selfSigned(), selfSigned()];
    writeFileSync(file("cert.pem"), own.cert);
    writeFileSync(file("key.pem"), own.key);
    writeFileSync(file("other.pem"), other.cert);
    const tls = { cert: file("cert.pem"), key: file("key.pem"), ca: file("cert.pem") };
    secure = await startEndpoint({ config: { listen: "https://127.0.0.1:0", tls } });
  });
  afterAll(async () => {
    await secure.stop();
    rmSync(folder, { recursive: true });
  });

  test("the authority that the job was told of is trusted", async () => {
    await inJob("tls", secure);
    await kv.set("k", 1);
    expect(await kv.get("k")).toBe(1);
    expect(await artifact.put("r", new Uint8Array(300_000))).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each(["1", "0"])("no other is, with NODE_TLS_REJECT_UNAUTHORIZED=%s", async (setting) => {
    await inJob("tls", secure);
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", setting);
    for (const ca of [file("other.pem"), undefined]) {
      vi.stubEnv("CRONSTABLE_STATE_CACERT", ca);
      await expect(kv.get("k")).rejects.toThrow(
        /^the TLS handshake with the cronstable state endpoint at https:\/\/127\.0\.0\.1:\d+ failed: /,
      );
    }
  });

  test("an authority that cannot be read is said", async () => {
    await inJob("tls", secure);
    vi.stubEnv("CRONSTABLE_STATE_CACERT", file("missing.pem"));
    await expect(kv.get("k")).rejects.toThrow(/^the CA certificate of CRONSTABLE_STATE_CACERT cannot be read: ENOENT/);
    vi.stubEnv("CRONSTABLE_STATE_CACERT", file("key.pem"));
    await expect(kv.get("k")).rejects.toMatchObject({ failure: "unreachable" });
  });
});

test("is what the package exports as cronstable/job", async () => {
  const script =
    'import { kv, lock } from "cronstable/job"; await lock.run("m", () => kv.set("k", 7)); console.log(await kv.get("k"));';
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(import.meta.dirname, "../.."),
  });
  expect(stdout).toBe("7\n");
});

import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode } from "../support/web-node.ts";
import { describedRoutes } from "./served.ts";

const SEED = Number(process.env.FUZZ_SEED ?? 20261130);
const REQUESTS = 10_000;
const AT_ONCE = 20;

/** Numbers that look random and come again with the same seed. */
function dice(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  return { below, pick, chance: (share: number): boolean => next() < share };
}

type Dice = ReturnType<typeof dice>;

const paths = [...new Set(describedRoutes().map(({ path }) => path))].filter((path) => path !== "/shutdown");
const methods = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "PATCH",
  "TRACE",
  "CONNECT",
  "get",
  "BREW",
  "",
  "G\u0000T",
];
const segments = [
  "job",
  "%2F",
  "%00",
  "%zz",
  "..",
  ".",
  "%C3%28",
  "a".repeat(300),
  "{name}",
  "🦆",
  "%F0%9F%A6%86",
  "",
  "job%20",
  "__proto__",
  "constructor",
];
const values = [
  "",
  "0",
  "-1",
  "1e9",
  "NaN",
  "9".repeat(400),
  "%",
  "%zz",
  "%00",
  "a&b=c",
  "__proto__",
  "2026-13-45T99:99",
  "0001-01-01T00:00",
  "9999-12-31T23:59:59",
  "* * * * *",
  "H H L W *",
  "@reboot",
  "Mars/Base",
  "kv/x",
  "logs/x",
  "../../etc/passwd",
];
const parameters = [
  "limit",
  "count",
  "days",
  "hours",
  "tz",
  "expr",
  "seed",
  "job",
  "at",
  "period",
  "token",
  "ns",
  "stream",
  "since",
  "until",
  "before",
  "outcome",
  "kind",
  "q",
  "after",
  "__proto__",
];
const bodies = [
  "",
  "{}",
  "[]",
  "null",
  "{",
  '{"durationSeconds":1e999}',
  '{"until":"\u0000"}',
  '{"__proto__":{"x":1}}',
  "[".repeat(5000),
  `{"note":"${"x".repeat(3000)}"}`,
  '{"decision":"approve","by":{}}',
  '{"from":"x","to":1}',
  "\ufeff{}",
  '{"jsonrpc":"2.0","method":"x"}',
  "\xff\xfe",
];
const headers = [
  "Accept",
  "Accept-Encoding",
  "Authorization",
  "Content-Type",
  "Content-Encoding",
  "Expect",
  "Host",
  "If-None-Match",
  "Origin",
  "Range",
  "Transfer-Encoding",
  "Upgrade",
  "X-Forwarded-For",
  "Last-Event-ID",
  "Connection",
  "Cookie",
  "X-HTTP-Method-Override",
  "MCP-Protocol-Version",
  "Access-Control-Request-Method",
];
const headerValues = [
  "",
  "*",
  "*/*",
  "application/json",
  "application/openmetrics-text",
  "gzip",
  "gzip;q=0",
  "Bearer x",
  "Bearer",
  "Basic ====",
  "100-continue",
  "nonsense",
  "chunked",
  "chunked, gzip",
  "identity",
  "http://evil.example",
  "null",
  '"x", W/"y"',
  "a".repeat(9000),
  "\x80\xff",
  "close",
  "keep-alive",
  "websocket",
  "1\x0b2",
];

function malformed(roll: Dice): Buffer {
  if (roll.chance(0.05)) return Buffer.from(Array.from({ length: roll.below(400) }, () => roll.below(256)));
  const path = roll.chance(0.9)
    ? roll.pick(paths).replace(/\{\w+\}/g, () => roll.pick(segments))
    : `/${roll.pick(segments)}/${roll.pick(segments)}`;
  const query = Array.from({ length: roll.below(4) }, () => `${roll.pick(parameters)}=${roll.pick(values)}`).join("&");
  const target = `${roll.chance(0.05) ? "http://x" : ""}${path}${query === "" ? "" : `?${query}`}`.replaceAll(
    " ",
    roll.chance(0.9) ? "%20" : " ",
  );
  const method = roll.chance(0.7) ? roll.pick(["GET", "POST", "HEAD", "DELETE"]) : roll.pick(methods);
  const version = roll.chance(0.95) ? "HTTP/1.1" : roll.pick(["HTTP/1.0", "HTTP/2.0", "HTTP/1.", "http/1.1", ""]);
  const body = roll.pick(bodies);
  const lines = [
    `${method} ${target} ${version}`,
    roll.chance(0.95) ? "Host: x" : "",
    ...Array.from({ length: roll.below(4) }, () => `${roll.pick(headers)}: ${roll.pick(headerValues)}`),
  ].filter((line, index) => index === 0 || line !== "");
  if (roll.chance(0.4))
    lines.push(
      `Content-Length: ${roll.chance(0.9) ? Buffer.byteLength(body, "latin1") : roll.pick(["-1", "abc", "99", "5 5", "4294967296"])}`,
    );
  else if (roll.chance(0.2)) lines.push("Transfer-Encoding: chunked");
  const sent = lines.some((line) => line.startsWith("Transfer-Encoding"))
    ? `${roll.chance(0.8) ? body.length.toString(16) : "zz"}\r\n${body}\r\n${roll.chance(0.8) ? "0\r\n\r\n" : ""}`
    : body;
  const text = `${lines.join(roll.chance(0.95) ? "\r\n" : "\n")}\r\n\r\n${sent}`;
  const whole = Buffer.from(text, roll.chance(0.8) ? "latin1" : "utf8");
  return roll.chance(0.1) ? whole.subarray(0, roll.below(whole.length)) : whole;
}

/** Sends and hangs up; answers with the status line, if one came. */
function send(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let head = "";
    const done = (): void => {
      socket.destroy();
      resolve(head.split("\r\n", 1)[0] ?? "");
    };
    socket.on("data", (chunk) => {
      head = (head + chunk.toString("latin1")).slice(0, 200);
      if (head.includes("\r\n")) done();
    });
    socket.on("error", done);
    socket.on("close", done);
    socket.end(bytes);
  });
}

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

test(`${REQUESTS} malformed requests leave it up, with no 500 and no growth (seed ${SEED}) (acceptance 36)`, {
  timeout: 120_000,
}, async () => {
  const node = await startWebNode({
    jobs: [jobConfig({ name: "job", enabled: false }), jobConfig({ name: "../x" })],
    mcp: { allowedOrigins: [], bodyBytesMax: 4096, answer: async () => "{}" },
  });
  const roll = dice(SEED);
  const port = node.port();
  const statuses = new Map<string, number>();
  const volley = async (count: number): Promise<void> => {
    let left = count;
    const shooter = async (): Promise<void> => {
      while (left-- > 0) {
        const bytes = malformed(roll);
        const line = await send(port, bytes);
        const status = line.slice(9, 12);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        expect(status < "500", `${line} for ${JSON.stringify(bytes.toString("latin1"))}`).toBe(true);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, shooter));
  };
  await volley(2_000);
  const before = { heap: heapUsed(), files: readdirSync("/proc/self/fd").length };
  await volley(REQUESTS - 2_000);
  await expect.poll(() => readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before.files + 2);
  node.logged.lines.length = 0;
  node.accessLogged.lines.length = 0;
  expect(heapUsed() - before.heap).toBeLessThan(16 * 1024 * 1024);
  expect((await node.get("/jobs")).json()).toHaveLength(2);
  for (const status of ["200", "400", "403", "404", "405", "409"])
    expect(statuses.get(status) ?? 0, `answers with ${status}`).toBeGreaterThan(0);
  await node.stop();
});

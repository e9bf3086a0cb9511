import { expect, test } from "vitest";
import type { ReportConfig } from "../../src/config/model.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { pauseSeconds, sentryProject } from "../../src/report/sentry-event.rules.ts";
import { type ReceivedRequest, webReceiver } from "../support/web-receiver.ts";
import { block, captured, failedRun, secret, succeededRun } from "./support/facts.ts";
import { closing, startReporting } from "./support/reporting.ts";

const fingerprint = ["cronstable", "{{ environment.HOSTNAME }}", "{{ name }}"];

/** The event of an envelope: a header line, then for each item a header line and a payload line. */
function eventOf({ body, headers }: ReceivedRequest) {
  expect(headers["content-type"]).toBe("application/x-sentry-envelope");
  const [header = "", itemHeader = "", payload = "", rest] = body.split("\n");
  expect(JSON.parse(itemHeader)).toMatchObject({ type: "event", length: Buffer.byteLength(payload) });
  expect(rest).toBe("");
  const event = JSON.parse(payload);
  expect(JSON.parse(header).event_id).toBe(event.event_id);
  return event;
}

function sentry(url: string, over: Partial<ReportConfig["sentry"]> = {}): ReportConfig {
  return block({ sentry: { dsn: secret(url.replace("://", "://TOPSECRET@").concat("/42")), fingerprint, ...over } });
}

test("a report is one message event with fingerprint, level, extra and environment (acceptance 32)", async () => {
  const server = closing(await webReceiver((response) => response.end('{"id":"1"}')));
  const { reporting, lines } = startReporting();
  await reporting.report(
    sentry(server.url, { level: "fatal", environment: "prod", extra: { team: "db", exit_code: "mine" } }),
    failedRun({ exitCode: 3, environment: { HOSTNAME: "host-7" }, stderr: captured("disk full") }),
  );
  const [request] = server.requests;
  expect(request?.url).toBe("/api/42/envelope/");
  expect(request?.headers["x-sentry-auth"]).toMatch(
    /^Sentry sentry_version=7, sentry_client=cronstable\/[\d.]+, sentry_key=TOPSECRET$/,
  );
  expect(eventOf(request as ReceivedRequest)).toMatchObject({
    message: "Cron job 'backup' failed\n\n(job failed because command exited with code 1)\n\ndisk full\n",
    level: "fatal",
    environment: "prod",
    server_name: "node-1",
    fingerprint: ["cronstable", "host-7", "backup"],
    extra: { job: "backup", exit_code: "mine", command: "./backup.sh", shell: "/bin/sh", success: false, team: "db" },
  });
  expect(lines).toEqual([]);
});

test("the level is error without one, also for a success; an unknown environment renders empty", async () => {
  const server = closing(await webReceiver());
  const { reporting } = startReporting();
  await reporting.report(sentry(server.url), succeededRun());
  expect(eventOf(server.requests[0] as ReceivedRequest)).toMatchObject({
    level: "error",
    fingerprint: ["cronstable", "", "backup"],
    extra: { success: true, exit_code: 0 },
  });
});

test("texts beyond maxStringLength are cut", async () => {
  const server = closing(await webReceiver());
  const { reporting } = startReporting();
  await reporting.report(
    sentry(server.url, { body: "{{ stdout }}", maxStringLength: 100, extra: { long: "y".repeat(200) } }),
    failedRun({ stdout: captured("x".repeat(300)) }),
  );
  const event = eventOf(server.requests[0] as ReceivedRequest);
  expect(event.message).toMatch(/^x{97,100}(\.\.\.)?$/);
  expect(event.extra.long).toMatch(/^y{97,100}(\.\.\.)?$/);
});

test.each([
  ["answers with an error", 403, /the server returned HTTP 403$/],
  ["asks for a pause", 429, /the server returned HTTP 429$/],
])("a server that %s is told of without the DSN", async (_what, status, message) => {
  const server = closing(
    await webReceiver((response) => {
      response.statusCode = status;
      response.setHeader("Retry-After", "60");
      response.end("TOPSECRET is wrong");
    }),
  );
  const { reporting, lines, everything } = startReporting();
  await reporting.report(sentry(server.url), failedRun());
  expect(lines).toEqual([expect.stringMatching(/^ERROR sentry: report of job backup failure: /)]);
  expect(lines[0]).toMatch(message);
  expect(everything()).not.toContain("TOPSECRET");
});

test("while the server wants its pause, events are dropped and that is said", async () => {
  const server = closing(
    await webReceiver((response) => {
      response.writeHead(429, { "Retry-After": "60" });
      response.end();
    }),
  );
  const { reporting, lines } = startReporting();
  await reporting.report(sentry(server.url), failedRun());
  await reporting.report(sentry(server.url), failedRun());
  expect(server.requests).toHaveLength(1);
  expect(lines[1]).toBe(
    "ERROR sentry: report of job backup failure: the server asked for a pause; the event is dropped",
  );
});

test.each([
  ["is no DSN", "TOPSECRET", "sentry.dsn is not a valid DSN"],
  [
    "leads nowhere",
    "http://TOPSECRET@127.0.0.1:1/42",
    "request failed (ECONNREFUSED); check sentry.dsn and the network",
  ],
])("a DSN that %s is told of without it", async (_what, dsn, said) => {
  const { reporting, lines, everything } = startReporting();
  await reporting.report(block({ sentry: { dsn: secret(dsn), fingerprint } }), failedRun());
  expect(lines).toEqual([`ERROR sentry: report of job backup failure: ${said}`]);
  expect(everything()).not.toContain("TOPSECRET");
});

test.each([
  [
    "https://key@o1.ingest.example/7",
    { url: "https://o1.ingest.example/api/7/envelope/", publicKey: "key", secretKey: null },
  ],
  [
    "http://key:sec@h:8000/sub/path/7/",
    { url: "http://h:8000/sub/path/api/7/envelope/", publicKey: "key", secretKey: "sec" },
  ],
  ["https://o1.ingest.example/7", null],
  ["https://key@o1.ingest.example/", null],
  ["https://key@o1.ingest.example/seven", null],
  ["ftp://key@h/7", null],
  ["key", null],
])("the DSN %s", (dsn, project) => {
  expect(sentryProject(dsn)).toEqual(project);
});

test.each([
  [200, null, null, null],
  [200, "60:error:key", null, 60],
  [200, "60:transaction;span:key, 30::org", null, 30],
  [200, "60:transaction:key", null, null],
  [429, null, "17", 17],
  [429, null, "Sun, 01 Mar 2026 12:01:40 GMT", 100],
  [429, null, null, 60],
  [503, null, "17", null],
])("status %i with limits %j and Retry-After %j pauses for %j seconds", (status, limits, after, seconds) => {
  expect(pauseSeconds(status, limits, after, Date.parse("2026-03-01T12:00:00Z"))).toBe(seconds);
});

test("the pause ends", async () => {
  let status = 429;
  const server = closing(
    await webReceiver((response) => {
      response.statusCode = status;
      response.end();
    }),
  );
  const clock = simulatedClock(Date.parse("2026-03-01T12:00:00Z"));
  const { reporting, lines } = startReporting({ clock });
  await reporting.report(sentry(server.url), failedRun());
  status = 200;
  clock.runUntil(clock.wallNow() + 60_000);
  await reporting.report(sentry(server.url), failedRun());
  expect(server.requests).toHaveLength(2);
  expect(lines).toHaveLength(1);
});

test("a server that never answers is given up on", async () => {
  const server = closing(await webReceiver(() => {}));
  const clock = simulatedClock(Date.parse("2026-03-01T12:00:00Z"));
  const { reporting, lines } = startReporting({ clock });
  const report = reporting.report(sentry(server.url), failedRun());
  await server.received(1);
  await clock.runUntilSettled(clock.wallNow() + 20_000);
  await report;
  expect(lines).toEqual(["ERROR sentry: report of job backup failure: no answer within 20 seconds; giving up on it"]);
});

test("a failing template fails this reporter alone (acceptance 32, 37)", async () => {
  const server = closing(await webReceiver());
  const { reporting, lines } = startReporting();
  const both = { ...sentry(server.url, { fingerprint: ["a", "{{ nope.x }}"] }), webhook: block({ webhook: { url: secret(server.url), body: "{{ nope }}" } }).webhook }; // biome-ignore format: one line
  await reporting.report(both, failedRun());
  expect(lines).toEqual([
    "ERROR Problem reporting job backup failure: sentry: sentry.fingerprint[1]: 'nope' is undefined (line 1)",
  ]);
  expect(server.requests.map(({ url, body }) => [url, body])).toEqual([["/", ""]]);
});

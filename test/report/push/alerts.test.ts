import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sodium from "libsodium-wrappers";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import { collapseId } from "../../../src/report/push/collapse-id.ts";
import { deviceFile } from "../../../src/report/push/device-file.ts";
import { fitted, type Payload } from "../../../src/report/push/payload.rules.ts";
import { webReceiver } from "../../support/web-receiver.ts";
import { block, captured, failedRun, startedAt, succeededRun } from "../support/facts.ts";
import { closing, startReporting } from "../support/reporting.ts";
import { paired, phone, startPush } from "./phones.ts";

beforeAll(() => sodium.ready);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cronstable-push-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const file = () => deviceFile(join(folder, "devices.json"));
const alerting = block({ push: { enabled: true } });

test("an alert reaches a paired phone, sealed for it alone (acceptance 38)", async () => {
  const relay = closing(await webReceiver());
  const { registry, reporting, lines } = startPush(relay.url, file());
  const device = phone();
  await registry.pair({ ...paired, publicKey: device.publicKey }, "ci");
  await reporting.report(
    block({ push: { enabled: true, priority: "passive" } }),
    failedRun({ exitCode: 3, stdout: captured("quiet\n"), stderr: captured("one\ntwo\n") }, { name: "Sauvegarde été" }),
  );
  expect(lines).toEqual([]);
  const sent = JSON.parse(relay.requests[0]?.body ?? "");
  expect(sent).toEqual({
    v: 1,
    device: "token-8f3a1b",
    ciphertext: expect.any(String),
    collapseId: expect.stringMatching(/^[0-9a-f]{32}$/),
    priority: "passive",
    event: false,
  });
  expect(relay.requests[0]?.body).not.toContain("Sauvegarde");
  expect(device.open(sent.ciphertext)).toEqual({
    v: 1,
    kind: "failure",
    name: "Sauvegarde été",
    success: false,
    host: "node-1",
    ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
    schedule: "* * * * *",
    started_at: "2026-03-01T12:00:00.250000+00:00",
    exit_code: 3,
    fail_reason: "command exited with code 1",
    log_tail: "one\ntwo",
  });
});

test("an alert fits, whatever the output (acceptance 38)", async () => {
  const relay = closing(await webReceiver());
  const { registry, reporting, lines } = startPush(relay.url, file());
  const device = phone();
  await registry.pair({ ...paired, publicKey: device.publicKey }, null);
  const outputs = ["x".repeat(300_000), `${'é\\"\n'.repeat(5_000)}last\n`, "\0\n".repeat(3_000), "😀".repeat(900)];
  for (const text of outputs)
    await reporting.report(alerting, failedRun({ stderr: captured(text), failReason: "r".repeat(5_000) }));
  expect(lines).toEqual([]);
  const sent = relay.requests.map(({ body }) => JSON.parse(body).ciphertext as string);
  expect(sent).toHaveLength(4);
  for (const ciphertext of sent) expect(ciphertext.length).toBeLessThanOrEqual(3_000);
  expect(device.open(sent[1] ?? "")).toMatchObject({ name: "backup", host: "node-1", schedule: "* * * * *" });
});

test("output goes first, oldest lines before newer ones; then long texts are halved; then what can be missed", () => {
  const base: Payload = {
    v: 1,
    kind: "failure",
    name: "n",
    success: false,
    host: "h",
    ts: "t",
    schedule: "s",
    run_id: "i",
  };
  const lines = Array.from({ length: 40 }, (_, i) => `${i} ${"x".repeat(95)}`);
  const tail = JSON.parse(fitted({ ...base, log_tail: lines.join("\n") }) ?? "").log_tail.split("\n");
  expect(tail).toEqual(lines.slice(-tail.length));
  expect(Buffer.byteLength(fitted({ ...base, log_tail: lines.slice(-tail.length - 1).join("\n") }) ?? "")).toBeLessThanOrEqual(2_202); // biome-ignore format: one line
  expect(JSON.stringify({ ...base, log_tail: lines.slice(-tail.length - 1).join("\n") }).length).toBeGreaterThan(2_202);

  const long = { ...base, log_tail: "gone", message: "m".repeat(3_600), fail_reason: "f".repeat(70) };
  expect(JSON.parse(fitted(long) ?? "")).toEqual({ ...base, message: "m".repeat(1_800), fail_reason: "f".repeat(70) });

  const stuffed = { ...base, name: "n".repeat(1_900), message: "m".repeat(130), subject: "s".repeat(300), schedule: "c".repeat(300) }; // biome-ignore format: one line
  const told = JSON.parse(fitted(stuffed) ?? "");
  expect(told).toEqual({ ...base, schedule: undefined, name: stuffed.name, message: "m".repeat(64), subject: "s".repeat(64) }); // biome-ignore format: one line

  expect(fitted({ ...base, name: "n".repeat(2_300) })).toBeNull();
});

test("output is left out when the block says so, and is stdout's when stderr is empty", async () => {
  const relay = closing(await webReceiver());
  const { registry, reporting } = startPush(relay.url, file());
  const device = phone();
  await registry.pair({ ...paired, publicKey: device.publicKey }, null);
  const numbers = Array.from({ length: 50 }, (_, i) => `${i}\n`);
  const run = succeededRun({ stderr: captured(""), stdout: captured(numbers.join("")) });
  await reporting.report(alerting, run);
  await reporting.report(block({ push: { enabled: true, includeLogTail: false } }), run);
  const [first, second] = relay.requests.map(({ body }) => device.open(JSON.parse(body).ciphertext));
  expect(first).toMatchObject({ kind: "success", log_tail: numbers.slice(10).join("").trim() });
  expect(second).not.toHaveProperty("log_tail");
});

test("late jobs and events are told with what belongs to them", async () => {
  const relay = closing(await webReceiver());
  const { registry, reporting } = startPush(relay.url, file());
  const device = phone();
  await registry.pair({ ...paired, publicKey: device.publicKey }, null);
  await reporting.report(alerting, {
    kind: "late",
    job: failedRun().job,
    check: "lateAfter",
    thresholdSeconds: 60,
    observedSeconds: 61.5,
    lastSuccessAt: startedAt,
  });
  await reporting.report(alerting, {
    kind: "event",
    event: "dag_failure",
    name: "etl",
    subject: "etl failed",
    message: "2 tasks",
    extras: { dag: "etl", run_key: "2026-03-01", run_id: "r1", failed_tasks: ["a"] },
  });
  const told = relay.requests.map(({ body }) => JSON.parse(body));
  expect(told.map(({ event }) => event)).toEqual([false, true]);
  expect(device.open(told[0].ciphertext)).toMatchObject({
    kind: "sla",
    fail_reason: "sla: lateAfter breached",
    sla_check: "lateAfter",
    threshold_seconds: 60,
    observed_seconds: 61.5,
    last_success_at: "2026-03-01T12:00:00.250000+00:00",
  });
  expect(device.open(told[1].ciphertext)).toMatchObject({
    kind: "event",
    name: "etl",
    event: "dag_failure",
    subject: "etl failed",
    message: "2 tasks",
    dag: "etl",
    run_key: "2026-03-01",
    run_id: "r1",
  });
});

test("the same alert from nodes that share a registry collapses into one (acceptance 38)", async () => {
  const relay = closing(await webReceiver());
  const one = startPush(relay.url, file());
  const two = startPush(relay.url, file());
  await one.registry.pair({ ...paired, publicKey: phone().publicKey }, null);
  await one.reporting.report(alerting, failedRun());
  await two.reporting.report(alerting, failedRun());
  await two.reporting.report(alerting, failedRun({}, { name: "other" }));
  const ids = relay.requests.map(({ body }) => JSON.parse(body).collapseId);
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
  expect(JSON.parse(readFileSync(join(folder, "devices.json"), "utf8")).collapseSalt).toMatch(/^[0-9a-f]{32}$/);
});

test("the collapse id is the salted digest of what identifies the alert, as ASCII JSON with sorted keys", () => {
  const told = { v: 1, kind: "event", name: "été", success: false, host: "h", ts: "t", event: "dag_failure", dag: "d", run_id: "", message: "m" } as const; // biome-ignore format: one line
  // SHA-256 of `00ff`, NUL, `{"dag":"d","event":"dag_failure","kind":"event","name":"\u00e9t\u00e9"}`
  expect(collapseId(told, "00ff")).toBe("b7a591248956eb5a297fa3564a41b65f");
});

test("a silent relay costs one time-out for ten phones (acceptance 38)", async () => {
  const relay = closing(await webReceiver(() => {}));
  const clock = simulatedClock(Date.parse("2026-03-01T12:00:00Z"));
  const { registry, reporting, lines } = startPush(relay.url, file(), clock);
  for (let i = 0; i < 10; i++)
    await registry.pair({ ...paired, pushToken: `token-${i}`, publicKey: phone().publicKey }, null);
  const report = reporting.report(alerting, failedRun());
  await relay.received(10);
  await clock.runUntilSettled(clock.wallNow() + 10_000);
  await report;
  expect(lines).toHaveLength(10);
  expect(lines[0]).toMatch(
    /^ERROR push: delivery to device [0-9a-f]{16} failed: relay unreachable: no answer within 10 seconds$/,
  );
});

test("a phone that cannot be reached stops no other, and the relay's credentials are not shown", async () => {
  const relay = closing(
    await webReceiver((response, { body }) => {
      response.statusCode = body.includes("bad") ? 410 : 200;
      response.end(`gone, relayuser:s3cret-pass\n${"x".repeat(1_000)}`);
    }),
  );
  const url = relay.url.replace("://", "://relayuser:s3cret-pass@");
  const { registry, reporting, lines } = startPush(url, file());
  await registry.pair({ ...paired, pushToken: "bad", publicKey: phone().publicKey }, null);
  await registry.pair({ ...paired, pushToken: "good", publicKey: phone().publicKey }, null);
  await reporting.report(alerting, failedRun());
  expect(relay.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(2).fill(`Basic ${Buffer.from("relayuser:s3cret-pass").toString("base64")}`),
  );
  expect(lines).toEqual([
    expect.stringMatching(
      /^ERROR push: delivery to device [0-9a-f]{16} failed: relay HTTP 410: gone, <redacted>:<redacted> x+$/,
    ),
  ]);
  expect(lines[0]?.length).toBeLessThan(600);
});

test("an alert is dropped with a word when nobody is paired or no section is applied", async () => {
  const { reporting, lines } = startPush("http://127.0.0.1:1", file());
  await reporting.report(alerting, failedRun());
  expect(lines).toEqual(["WARNING push: no device is paired; the report of job backup is dropped"]);
  const without = startReporting({ push: null });
  await without.reporting.report(alerting, failedRun());
  expect(without.lines).toEqual(["ERROR push: no `push` section is applied; the report of job backup is dropped"]);
});

test("a test alert goes to one phone and tells how it went", async () => {
  const relay = closing(await webReceiver());
  const { registry, pushing } = startPush(relay.url, file());
  const device = phone();
  const pairing = await registry.pair({ ...paired, publicKey: device.publicKey }, null);
  await registry.pair({ ...paired, publicKey: phone().publicKey }, null);
  const id = pairing.kind === "paired" ? pairing.device.id : "";
  expect(await pushing.test(id)).toEqual({ status: 200, error: null });
  expect(relay.requests).toHaveLength(1);
  const told = device.open(JSON.parse(relay.requests[0]?.body ?? "").ciphertext);
  expect(told).toMatchObject({ kind: "test", name: "phone", message: expect.stringContaining("test alert") });
  expect(await pushing.test("0000000000000000")).toBeNull();
});

test("a test alert to a relay that cannot be reached says so", async () => {
  const { registry, pushing } = startPush("http://127.0.0.1:1", file());
  const pairing = await registry.pair({ ...paired, publicKey: phone().publicKey }, null);
  const id = pairing.kind === "paired" ? pairing.device.id : "";
  expect(await pushing.test(id)).toEqual({ status: null, error: "relay unreachable: ECONNREFUSED" });
});

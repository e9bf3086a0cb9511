import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { resolveSecret } from "../../src/report/secret.ts";
import { webReceiver } from "../support/web-receiver.ts";
import { block, failedRun } from "./support/facts.ts";
import { closing, startReporting } from "./support/reporting.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cronstable-secret-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const none = { value: null, fromFile: null, fromEnvVar: null };
const file = (name: string, content: string | Buffer): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

test("nothing written is no secret", async () => {
  expect(await resolveSecret(none, "mail.password")).toEqual({ kind: "unset" });
});

test("the first source that is not empty is used", async () => {
  vi.stubEnv("REPORT_SECRET_TEST", "from-env");
  const all = { value: "direct", fromFile: file("a", "from-file"), fromEnvVar: "REPORT_SECRET_TEST" };
  expect(await resolveSecret(all, "x")).toEqual({ kind: "secret", text: "direct" });
  expect(await resolveSecret({ ...all, value: "" }, "x")).toEqual({ kind: "secret", text: "from-file" });
  expect(await resolveSecret({ ...all, value: null, fromFile: "" }, "x")).toEqual({ kind: "secret", text: "from-env" });
});

test("a file is read when the secret is used, without mark and white space", async () => {
  const source = { ...none, fromFile: file("a", "\ufeff  one \n\n") };
  expect(await resolveSecret(source, "x")).toEqual({ kind: "secret", text: "one" });
  writeFileSync(source.fromFile, "two");
  expect(await resolveSecret(source, "x")).toEqual({ kind: "secret", text: "two" });
});

test.each([
  ["a variable that is not set", { ...none, fromEnvVar: "REPORT_SECRET_TEST_UNSET" }],
  ["an empty value", { ...none, value: "" }],
])("%s is a problem that does not name it", async (_what, source) => {
  expect(await resolveSecret(source, "sentry.dsn")).toEqual({
    kind: "problem",
    problem: "sentry.dsn is configured but resolved to an empty secret",
  });
});

test("an empty file does not fall through to the variable", async () => {
  vi.stubEnv("REPORT_SECRET_TEST", "from-env");
  const source = { ...none, fromFile: file("a", " \n"), fromEnvVar: "REPORT_SECRET_TEST" };
  expect(await resolveSecret(source, "x")).toMatchObject({ kind: "problem" });
});

test("a file that is not there, is a folder, never ends or waits for a writer is a problem", async () => {
  const fifo = join(folder, "fifo");
  execFileSync("mkfifo", [fifo]);
  const problems = await Promise.all(
    [join(folder, "none"), folder, "/dev/zero", fifo].map((fromFile) =>
      resolveSecret({ ...none, fromFile }, "mail.password"),
    ),
  );
  expect(problems).toEqual([
    { kind: "problem", problem: expect.stringMatching(/^mail\.password\.fromFile could not be read: ENOENT: /) },
    { kind: "problem", problem: expect.stringMatching(/^mail\.password\.fromFile could not be read: EISDIR: /) },
    { kind: "problem", problem: expect.stringMatching(/could not be read: \/dev\/zero is larger than 65536 bytes$/) },
    { kind: "problem", problem: "mail.password is configured but resolved to an empty secret" },
  ]);
});

test("a reporter whose secret cannot be had skips with one line, the others go on (acceptance 34)", async () => {
  const receiver = closing(await webReceiver());
  const { reporting, lines } = startReporting();
  const missing = join(folder, "none");
  await reporting.report(
    block({
      mail: { from: "a@x.org", to: "b@x.org", smtpPort: 1, username: "u", password: { ...none, fromFile: missing } },
      sentry: { dsn: { ...none, fromEnvVar: "REPORT_SECRET_TEST_UNSET" } },
      webhook: { url: { ...none, fromFile: file("url", `${receiver.url}\n`) } },
    }),
    failedRun(),
  );
  expect(receiver.requests).toHaveLength(1);
  expect([...lines].sort()).toEqual([
    expect.stringMatching(/^ERROR mail: mail\.password\.fromFile could not be read: ENOENT: .*; not sending email$/),
    "ERROR sentry: sentry.dsn is configured but resolved to an empty secret; not reporting",
  ]);
  lines.length = 0;
  await reporting.report(block({ webhook: { url: { ...none, fromFile: missing } } }), failedRun());
  expect(lines).toEqual([
    expect.stringMatching(/^ERROR webhook: webhook\.url\.fromFile could not be read: ENOENT: .*; not reporting$/),
  ]);
});

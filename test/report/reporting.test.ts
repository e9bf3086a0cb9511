import { spawnSync } from "node:child_process";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { ReportFacts } from "../../src/contract/report.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { story } from "../../src/report/story.ts";
import { render } from "../../src/report/template/template.ts";
import { blockTemplateProblems } from "../../src/report/template-problems.ts";
import { variables } from "../../src/report/variables.ts";
import { silentReport } from "../support/job-config.ts";
import { mailServer, rawServer } from "../support/mail-server.ts";
import { webReceiver } from "../support/web-receiver.ts";
import { block, captured, failedRun, secret, startedAt, succeededRun } from "./support/facts.ts";
import { closing, startReporting } from "./support/reporting.ts";

describe("whether a block would act", () => {
  const none = { value: null, fromFile: null, fromEnvVar: null };
  test.each([
    ["nothing set", {}, false],
    ["mail to and from", { mail: { from: "a@x.org", to: "b@x.org" } }, true],
    ["mail without from", { mail: { to: "b@x.org" } }, false],
    ["mail with an empty to", { mail: { from: "a@x.org", to: "" } }, false],
    ["a webhook url in a file", { webhook: { url: { ...none, fromFile: "/run/secret" } } }, true],
    ["a sentry dsn in a variable", { sentry: { dsn: { ...none, fromEnvVar: "DSN" } } }, true],
    ["a shell command", { shell: { command: ["true"] } }, true],
    ["push", { push: { enabled: true } }, true],
    ["eventlog, which is for Windows", { eventlog: { enabled: true } }, false],
  ])("%s", async (_what, parts, acts) => {
    const { reporting, lines } = startReporting();
    expect(reporting.wouldAct(block(parts))).toBe(acts);
    if (!acts) await reporting.report(block(parts), failedRun());
    expect(lines).toEqual([]);
  });
});

test("all reporters of a block run side by side; one that fails stops no other (F-50, acceptance 32)", async () => {
  const mails = closing(await mailServer());
  const web = closing(await webReceiver());
  const { reporting, lines } = startReporting();
  await reporting.report(
    block({
      mail: { from: "a@x.org", to: "b@x.org", smtpHost: "127.0.0.1", smtpPort: mails.port },
      webhook: { url: secret(web.url), body: "{{ nope.x }}" },
      sentry: { dsn: secret(`${web.url.replace("://", "://key@")}/1`), body: "{{ stdout }}" },
      shell: { command: ["/no/such/reporter"] },
    }),
    failedRun({ stdout: captured("out") }),
  );
  expect(mails.mails).toHaveLength(1);
  expect(web.requests.map(({ url }) => url)).toEqual(["/api/1/envelope/"]);
  expect([...lines].sort()).toEqual([
    expect.stringMatching(/^ERROR Problem reporting job backup failure: shell: .*\/no\/such\/reporter/),
    "ERROR Problem reporting job backup failure: webhook: webhook.body: 'nope' is undefined (line 1)",
  ]);
});

test("receivers that hang delay neither the quick ones nor anything else (F45)", async () => {
  const clock = simulatedClock(Date.parse("2026-03-01T12:00:00Z"));
  const greetless = closing(await rawServer(() => {}));
  const silent = closing(await webReceiver(() => {}));
  const quick = closing(await webReceiver());
  const { reporting, lines } = startReporting({ clock });
  const ended: string[] = [];
  const hang = (name: string, parts: Parameters<typeof block>[0]): Promise<unknown> =>
    reporting.report(block(parts), failedRun({}, { name })).then(() => ended.push(name));
  const hanging = [
    hang("mail", { mail: { from: "a@x.org", to: "b@x.org", smtpHost: "127.0.0.1", smtpPort: greetless.port } }),
    hang("webhook", { webhook: { url: secret(silent.url), timeoutSeconds: 20 } }),
    hang("shell", { shell: { command: "sleep 300", timeoutSeconds: 30 } }),
  ];
  const hook = block({ webhook: { url: secret(quick.url) } });
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => reporting.report(hook, failedRun({}, { name: `quick-${i}` }))),
  );
  expect(quick.requests).toHaveLength(20);
  expect(ended).toEqual([]); // no time has passed: the quick ones waited for none of the others
  await silent.received(1);
  await clock.runUntilSettled(clock.wallNow() + 20_000);
  await hanging[1];
  expect(ended).toEqual(["webhook"]);
  await clock.runUntilSettled(clock.wallNow() + 10_000);
  await hanging[2];
  expect(ended).toEqual(["webhook", "shell"]);
  await clock.runUntilSettled(clock.wallNow() + 30_000);
  await Promise.all(hanging);
  expect(lines).toEqual([
    expect.stringContaining("webhook reporter of job webhook: request failed (no answer within 20 seconds)"),
    expect.stringContaining("Shell reporter of job shell did not finish within 30.0 seconds; killing it"),
    expect.stringContaining("mail: report for job mail did not complete within 60 seconds; giving up on it"),
  ]);
});

test("closing ends what goes on, quietly, and lets nothing new begin", async () => {
  const sockets: Socket[] = [];
  const greetless = closing(await rawServer((socket) => sockets.push(socket)));
  const silent = closing(await webReceiver(() => {}));
  const { reporting, lines } = startReporting();
  const both = block({
    mail: { from: "a@x.org", to: "b@x.org", smtpHost: "127.0.0.1", smtpPort: greetless.port },
    webhook: { url: secret(silent.url) },
  });
  const report = reporting.report(both, failedRun());
  await silent.received(1);
  reporting.close();
  await report;
  await reporting.report(both, failedRun());
  expect(silent.requests).toHaveLength(1);
  expect(lines).toEqual([]);
});

test("hundreds of reports at once leave the event loop free in between", async () => {
  const receiver = closing(await webReceiver());
  const { reporting } = startReporting();
  const hook = block({ webhook: { url: secret(receiver.url) } });
  let turns = 0;
  const counting = setInterval(() => turns++, 1);
  await Promise.all(Array.from({ length: 300 }, () => reporting.report(hook, failedRun())));
  clearInterval(counting);
  expect(receiver.requests).toHaveLength(300);
  expect(turns).toBeGreaterThan(5);
});

test("no library is loaded before a reporter tells something", () => {
  const program = `
    const { createReporting } = await import("${new URL("../../src/report/reporting.ts", import.meta.url)}");
    createReporting({ log: {}, clock: {}, host: "h", push: () => null, spawner: {}, randomHex: () => "" });
  `;
  const hooks = `export async function resolve(specifier, context, next) {
    const found = await next(specifier, context);
    if (/node_modules\\/(nodemailer|libsodium)/.test(found.url)) console.error("loaded " + found.url);
    return found;
  }`;
  const preload = `import { register } from "node:module"; register(${JSON.stringify(javascript(hooks))});`;
  const run = (source: string) =>
    spawnSync(
      process.execPath,
      [
        "--import",
        "./scripts/load-typescript.mjs",
        "--import",
        javascript(preload),
        "--input-type=module",
        "-e",
        source,
      ],
      { encoding: "utf8" },
    );
  expect(run(program)).toMatchObject({ status: 0, stderr: "" });
  expect(run(`${program}; await import("nodemailer/lib/mime-node");`).stderr).toContain("loaded"); // the hook does see
});

describe("template variables", () => {
  const show = (facts: ReportFacts, template: string): string => render(template, variables(story(facts, "node-1")));

  test("of a run are all there", () => {
    const run = failedRun({
      exitCode: 3,
      environment: { HOSTNAME: "h", A: "1" },
      stdout: captured("out"),
      resources: { cpuUserSeconds: 1.5, cpuSystemSeconds: 0.5, maxRssBytes: 1_024, samples: 1, series: [] },
      verification: { outcome: "failed", exitCode: 2, startedAt, finishedAt: startedAt + 1_500, reason: "check exited with code 2", stdout: "v", stderr: null, outputTruncated: false }, // biome-ignore format: one line
      limits: { requested: { cpu: 0.5, memoryBytes: 64 }, enforced: ["memory"], notEnforced: [{ cap: "cpu", reason: "no controller" }], memoryExceeded: true, memoryPeakBytes: 70, cpuThrottledSeconds: null, processesPeak: null }, // biome-ignore format: one line
    });
    expect(
      show(
        { ...run, runId: "ab", note: "reminder" },
        "{{ name }}|{{ success }}|{{ fail_reason }}|{{ stdout }}|{{ stderr }}|{{ exit_code }}|{{ command }}|{{ shell }}|{{ environment.A }}|{{ host }}|{{ schedule }}|{{ started_at }}|{{ run_id }}|{{ cpu_seconds }}|{{ cpu_user_seconds }}|{{ cpu_system_seconds }}|{{ max_rss_bytes }}|{{ note }}",
      ),
    ).toBe(
      "backup|False|command exited with code 1|out|None|3|./backup.sh|/bin/sh|1|node-1|* * * * *|2026-03-01T12:00:00.250000+00:00|ab|2.0|1.5|0.5|1024|reminder",
    );
    expect(show(run, "{{ verification|tojson }}")).toBe(
      '{"duration": 1.5, "exit_code": 2, "finished_at": "2026-03-01T12:00:01.750000+00:00", "outcome": "failed", "output_truncated": false, "reason": "check exited with code 2", "started_at": "2026-03-01T12:00:00.250000+00:00", "stderr": null, "stdout": "v"}',
    );
    expect(show(run, "{{ limits|tojson }}")).toBe(
      '{"cpu_throttled_seconds": null, "enforced": ["memory"], "memory_exceeded": true, "memory_peak_bytes": 70, "not_enforced": [{"cap": "cpu", "reason": "no controller"}], "processes_peak": null, "requested": {"cpu": 0.5, "memory_bytes": 64}}',
    );
  });

  test("of a run that has little are None", () => {
    expect(
      show(
        succeededRun(),
        "{{ success }}{{ fail_reason }}{{ stdout }}{{ environment }}{{ run_id }}{{ cpu_seconds }}{{ max_rss_bytes }}{{ verification }}{{ limits }}{{ note }}[{{ environment.HOSTNAME }}]",
      ),
    ).toBe("TrueNoneNoneNoneNoneNoneNoneNoneNoneNone[]");
  });

  test("of a late job", () => {
    const late = { kind: "late", job: failedRun().job, check: "maxRuntime", thresholdSeconds: 60, observedSeconds: 61, lastSuccessAt: null } as const; // biome-ignore format: one line
    expect(
      show(
        late,
        "{{ name }}|{{ success }}|{{ fail_reason }}|{{ sla_check }}|{{ threshold_seconds }}|{{ observed_seconds }}|{{ last_success_at }}|{{ environment }}|{{ stdout }}|{{ exit_code }}|{{ schedule }}",
      ),
    ).toBe("backup|False|sla: maxRuntime breached|maxRuntime|60|61.0|None|{'HOSTNAME': 'node-1'}|None|None|* * * * *");
    expect(show({ ...late, lastSuccessAt: startedAt - 250 }, "{{ last_success_at }}")).toBe(
      "2026-03-01T12:00:00+00:00",
    );
  });

  test("of an event", () => {
    const event = { kind: "event", event: "dag_failure", name: "etl", subject: "etl failed", message: "two tasks", extras: { dag: "etl", run_key: "k", failed_tasks: ["a", "b"], quorate: false } } as const; // biome-ignore format: one line
    expect(
      show(
        event,
        "{{ event }}|{{ subject }}|{{ message }}|{{ name }}|{{ success }}|{{ fail_reason }}|{{ dag }}|{{ run_key }}|{{ failed_tasks }}|{{ quorate }}|{{ stdout }}|{{ command }}|{{ environment }}|{{ host }}",
      ),
    ).toBe("dag_failure|etl failed|two tasks|etl|False|two tasks|etl|k|['a', 'b']|False|None|None|None|node-1");
  });

  test("that are unknown render empty (acceptance 37)", () => {
    expect(show(failedRun(), "[{{ nope }}][{{ success }}]\n")).toBe("[][False]");
    expect(() => show(failedRun(), "{{ nope.x }}")).toThrow("'nope' is undefined");
  });
});

test("a recovery that goes wrong is called one", async () => {
  const { reporting, lines } = startReporting();
  await reporting.report(block({ shell: { command: ["/no/such"] } }), {
    ...failedRun({ failReason: null }),
    note: "recovered",
  });
  expect(lines).toEqual([expect.stringMatching(/^ERROR Problem reporting job backup recovery: shell: /)]);
});

test("events are told under their own name", async () => {
  const receiver = closing(await webReceiver((response) => response.writeHead(500).end("no")));
  const { reporting, lines } = startReporting();
  const hook = block({ webhook: { url: secret(receiver.url) }, shell: { command: ["/no/such"] } });
  await reporting.report(hook, { kind: "event", event: "leader_change", name: "node-1", subject: "s", message: "m", extras: {} }); // biome-ignore format: one line
  expect([...lines].sort()).toEqual([
    expect.stringMatching(/^ERROR Problem reporting leader_change of node-1: shell: /),
    "ERROR webhook reporter of leader_change of node-1: server returned HTTP 500: no",
  ]);
});

test("syntax errors of a block's templates are found at load, each under its option", () => {
  expect(blockTemplateProblems(silentReport)).toEqual([]);
  expect(
    blockTemplateProblems(
      block({
        mail: { subject: "{{ a", body: "ok" },
        sentry: { fingerprint: ["fine", "{% if %}"] },
        webhook: { body: "{\n{{ x|nofilter }}\n}" },
      }),
    ),
  ).toEqual([
    { option: "mail.subject", problem: "the tag is never closed with }} (line 1)" },
    { option: "sentry.fingerprint[1]", problem: "the tag ends too early (line 1)" },
    { option: "webhook.body", problem: 'there is no filter "nofilter" (line 2)' },
  ]);
});

function javascript(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

import { expect, test } from "vitest";
import { canonicalJob, jobDigest, jobSetId } from "../../src/config/fingerprint.ts";
import type { JobConfig } from "../../src/config/model.ts";
import { configOf, onlyJob } from "./loading.ts";

const plain = "command: echo hi";
const fiveMinutes = 'schedule: "*/5 * * * *"';

function job(...lines: readonly string[]): JobConfig {
  const has = (key: string): boolean => lines.some((line) => line.startsWith(`${key}:`));
  const own = ["name: hello", ...(has("command") ? [] : [plain]), ...(has("schedule") ? [] : [fiveMinutes])];
  const rest = [...own, ...lines].flatMap((line) => line.split("\n")).slice(1);
  return onlyJob(
    configOf(
      `state: {path: /s}\npush: {relay: {url: "http://r"}}\njobs:\n  - name: hello\n${rest.map((line) => `    ${line}\n`).join("")}`,
    ),
  );
}

const base = "c668d6c0a5bc5e7343a9c3834539af83ee62f45843007af7c572a36ed0e2f672";

test("the canonical text of a plain job is the reference's, byte for byte", () => {
  const text = canonicalJob(job());
  expect(text).toHaveLength(5782);
  expect(text).toMatch(
    /^\{"captureStderr":true,"captureStdout":false,"clusterPolicy":"Leader","command":\{"shell_command":"echo hi"\},"concurrencyPolicy":"Allow",/,
  );
  expect(text).toMatch(
    /"statsd":null,"streamPrefix":"\[\{job_name\} \{stream_name\}\] ","timezone":"UTC","user":null\}$/,
  );
});

test.each([
  [[]],
  [['schedule: "  */5  * * * * "']],
  [["schedule:\n  minute: '*/5'"]],
  [["timezone: UTC"]],
  [["killTimeout: 30.0"]],
  [["priority: normal"]],
])("spelled %j the job is the same", (lines) => {
  expect(jobDigest(job(...lines))).toBe(base);
});

test.each([
  "onMissed: run-all",
  "startingDeadlineSeconds: 60",
  "catchupJitterSeconds: 5",
  "archiveOutput: yes",
  "redactArchivedSecrets: no",
  "monitorResources: yes",
  "sla: {maxRuntimeSeconds: 5}",
  "sla: {maxRuntimeSeconds: 5}\nonLate: {report: {mail: {to: a, from: b}}}",
  "secrets: [{name: s, value: v}]",
  "stateAllowedScopes: [x]",
  "workingDirectory: /tmp",
  "onFailure: {report: {alert: {afterFailures: 1, onRecovery: no}}}",
  "onFailure: {report: {push: {enabled: no}, eventlog: {enabled: no}}}",
])("%j does not change what the job is", (line) => {
  expect(jobDigest(job(line))).toBe(base);
});

test.each([
  ["environment: [{key: A, value: '1'}]", "75749b0aa12696e171b4827241d80c5136a1c831142ba08f28c88b3ba1e7bb9d"],
  ["environment: [{key: A, value: '2'}]", "75749b0aa12696e171b4827241d80c5136a1c831142ba08f28c88b3ba1e7bb9d"],
  ["utc: false", "84f7cd9c50e3efd6936a1c5ac3ad58f280069265fb640a8f6036e17416d739ed"],
  ["timezone: Europe/Berlin", "be2e479bedb07478f643e153a63be2d7e75d46937686712fada8ea91c01b5ae0"],
  ["command: [echo, hi]", "8a52a4b71cde49d4a8d054db2cff01db752534d7edd4f411979c076a940d7117"],
  ["killTimeout: 0.5", "7acc6b17a0b4dd514bbfa3af1a28928449bcbb00dbba7b573d872d312f60414a"],
  ["executionTimeout: inf", "b45c439995141ce3c2fd13d48539e02e0ceeeaf814f713103e7f8e46b3e927d5"],
  ["priority: high", "17f70b3da24872520d1033d1c889bce3bc43e6b257743df16142c88c9058326c"],
  ["concurrencyPolicy: Forbid", "f728665a3c368bb9372391e1150fedfbbf8708fb949098eb41962a4da06fbcfc"],
  [
    "concurrencyPolicy: Forbid\nconcurrencyScope: cluster",
    "724e668f7ed1a6ff9a6e4717044b3a2d4466991fbd9ba4730029a8e1c39e3273",
  ],
  ["user: 1000", "5413f3ee0cd92ad7d1b4d4be582962ef989f3ce63b16432c1398d3deae3afc5d"],
  [
    "onFailure: {report: {webhook: {url: {value: anything}}}}",
    "cc84c366d517397ae3554663b7c0c966fb42617899d311e226fd29b35cbb37d3",
  ],
  [
    "onFailure: {report: {webhook: {url: {fromEnvVar: HOOK}}}}",
    "86a80cab2386c918f20728d52b86469e5c253e187e3cc1ecc401264ee72da426",
  ],
  [
    "onFailure: {report: {webhook: {headers: {Authorization: z}}}}",
    "01ad1d7dfff746d5db12fed41e526996a2d7d946d11b805a6c19372e2e6103e2",
  ],
  [
    "onFailure: {retry: {maximumRetries: 3, initialDelay: 5, maximumDelay: 60, backoffMultiplier: 2}}",
    "c075fcbe2d91c5c8c6749873e82c7e25d09c28834e34254268593811e021433d",
  ],
  [
    "onFailure: {report: {shell: {command: notify}}}",
    "9410c80f1b7778346ad3f0394ca138839cd8803c7ede4da26d657d1c3d6beb70",
  ],
  [
    "onFailure: {report: {shell: {command: notify, timeout: 60}}}",
    "9410c80f1b7778346ad3f0394ca138839cd8803c7ede4da26d657d1c3d6beb70",
  ],
  ["onSuccess: {report: {push: {enabled: true}}}", "1fd1a21436e97246de99bfe755f3b357e4a9055cff9b4811997aa47692fa3ba9"],
  ["enabled: false", "f7ee988715e8d1fe70de87119a5f6d9f1c3731c120b6af8b77b864990a37ffdd"],
  ["onlyIfLastSucceeded: true", "89924754468df49f7d26cdf78e83491d0e223cddc27e4e6d71a9e795d6c9f506"],
  ["statsd: {prefix: p, host: h, port: 8125}", "ca661d4370eba4f6ffb110c2b3ee126fb93163310aece84e261c6fcb9fc73d84"],
  ["verify: {command: check}", "c7965f8f81b40e9e33398f10509f41187bdfe4bc33ee634d47f298c0fff38305"],
])("the job with %j has the digest other implementations give it", (line, digest) => {
  expect(jobDigest(job(...line.split("\n")))).toBe(digest);
});

test("OPS-8: a pooled job has the digest that the rules give", () => {
  const config = configOf(`state: {path: /s}
pools: {warehouse: {slots: 4}}
jobs:
  - {name: hello, command: echo hi, schedule: "*/5 * * * *", pool: warehouse, poolSlots: 2, queuePriority: 10, queueTimeout: 1800}
`);
  expect(jobDigest(onlyJob(config))).toBe("437ac8763f194dee7796f54b94e32860a1c3cba59b65bdcb648a858485581290");
});

test("a job with everything that is hard to write down has the reference's digest", () => {
  const torture = onlyJob(
    configOf(String.raw`state: {path: /s}
jobs:
  - name: "j\u00f6b\U0001F600\x7f"
    command: [echo, a b, /x]
    schedule: {second: 0, hour: 3}
    utc: no
    killTimeout: 0.00001
    executionTimeout: inf
    priority: idle
    concurrencyPolicy: Forbid
    environment: [{key: B, value: 1}, {key: A, value: 2}]
    user: 1000
    onFailure:
      retry: {maximumRetries: -1, initialDelay: 0.5, maximumDelay: 1e22, backoffMultiplier: 2.5}
      report:
        mail:
          from: a@b
          to:
          password: {value: secret}
        webhook:
          url: {value: http://x}
          headers: {Authorization: z, "\uFFFDq": y, "\U0001F600": x}
        shell: {command: [x], timeout: 61}
        sentry:
          fingerprint: [f]
          extra: {n: 5, t: true}
          level: warning
        push: {enabled: no}
`),
  );
  expect(jobDigest(torture)).toBe("142c58e36f8e819a882add22bdb8cd2de493bd5e26b435a97f569c9bfd98d016");
});

test("options of our own count from the moment they differ from their default", () => {
  const digests = [
    "umask: '027'",
    "resourceLimits: {memory: 1G}",
    "onFailure: {report: {alert: {afterFailures: 2}}}",
  ].map((line) => jobDigest(job(line)));
  expect(new Set([base, ...digests]).size).toBe(4);
  expect(jobDigest(job("umask: '0027'"))).toBe(digests[0]);
  expect(jobDigest(job("resourceLimits: {memory: 1024 MiB, required: no}"))).toBe(digests[1]);
});

test("OPS-8: the id of a set of jobs does not depend on their order", () => {
  const other = onlyJob(configOf('jobs:\n  - name: b\n    command: "true"\n    schedule: "@daily"\n'));
  const both = "v1:2508912f71da7150e56bb5015be0ecd11be9d986decfaaee319f3a1fdb4507cc";
  expect(jobSetId([])).toBe("v1:2d27fbdf4e8ca207afbfa388ca9172fbcc6c70e534af2476b3b704f87debadcf");
  expect(jobSetId([job()])).toBe("v1:7d416e9a822873b060f29d5b56432d0f458f25427fc4747c604d67024641eb8e");
  expect(jobSetId([job(), other])).toBe(both);
  expect(jobSetId([other, job()])).toBe(both);
});

test("where a job stands and where its options come from does not change the id", () => {
  const one = "{name: one, command: x, schedule: '@daily', killTimeout: 30.0, environment: [{key: A, value: 1}]}";
  const two = "{name: two, command: x, schedule: '@daily', captureStdout: yes}";
  const plain = "{name: one, command: x, schedule: '@daily'}";
  const ids = [
    configOf(`jobs: [${one}, ${two}]`),
    configOf(`jobs: [${two}, ${one.replace("value: 1", "value: 2").replace("killTimeout: 30.0, ", "")}]`),
    configOf(
      `defaults: {killTimeout: 30, environment: [{key: A, value: 3}]}\njobs: [${plain}]\ninclude: [two.yaml]`,
      {},
      "cron.yaml",
      {
        "two.yaml": "jobs: [{name: two, command: x, schedule: '@daily', captureStdout: on}]",
      },
    ),
  ].map(({ jobs }) => jobSetId(jobs));
  expect(new Set(ids).size).toBe(1);
  expect(jobSetId(configOf(`jobs: [${one.replace("key: A", "key: B")}, ${two}]`).jobs)).not.toBe(ids[0]);
});

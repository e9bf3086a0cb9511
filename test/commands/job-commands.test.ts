import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobApi } from "../../src/jobapi/job-api.ts";
import { aJob, aRun, startEndpoint } from "../support/job-api.ts";
import { runCommand } from "../support/job-command.ts";

const secrets = ["A", "B"].map((name) => ({ name, source: { value: `${name}é`, fromFile: null, fromEnvVar: null } }));
const notInAJob = "(the daemon sets it for jobs of a configuration with a `state` section whose jobApi is enabled)";

let api: JobApi;
let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cronstable-commands-"));
  api = await startEndpoint({ config: { maxValueBytes: 1000, maxArtifactBytes: 500_000 } });
});
afterAll(async () => {
  await api.stop();
  rmSync(folder, { recursive: true });
});

async function environmentOf(name: string, more: Readonly<Record<string, string>> = {}) {
  const job = aJob(name, { secrets, stateAllowedScopes: ["team"] });
  return { ...(await api.register(aRun({ job }))).environment, ...more };
}

type Step = readonly [args: readonly string[], ended: string];

/** Commands of one job in their order: what they print, and how they end. */
const scripts: Readonly<Record<string, readonly Step[]>> = {
  state: [
    [["state", "get", "k"], "4||key not found: k\n"],
    [["state", "set", "k", "1 é"], "0||"],
    [["state", "get", "k"], "0|1 é\n|"],
    [["state", "set", "--json", "j", '{"s":"é","n":3,"f":1.0,"big":18446744073709551615}'], "0||"],
    [["state", "get", "j"], '0|{"big": 18446744073709551615, "f": 1.0, "n": 3, "s": "\\u00e9"}\n|'],
    [
      ["state", "set", "j", "[1.0", "--json"],
      "1||cronstable state: --json was given but VALUE is not valid JSON: the text ends too early\n",
    ],
    [
      ["state", "set", "big", "x".repeat(1000)],
      "1||cronstable state: value of 1002 bytes exceeds the configured limit of 1000 bytes\n",
    ],
    [["state", "keys"], "0|j\nk\n|"],
    [["state", "delete", "k"], "0||"],
    [["state", "delete", "k"], "4||"],
    [["state", "set", "k", "v", "--global"], "0||"],
    [["state", "get", "k", "--scope=global"], "0|v\n|"],
    [["state", "get", "k", "--sc", "team"], "4||key not found: k\n"],
    [
      ["state", "get", "k", "--scope", "other"],
      "1||cronstable state: scope 'other' is not permitted for job 'state'; add it to stateAllowedScopes to allow this job to use it\n",
    ],
  ],
  cursor: [
    [["cursor", "get", "w"], "4||cursor not set: w\n"],
    [["cursor", "advance", "w", "9"], "0|9\n|"],
    [["cursor", "advance", "w", "10"], "0|10\n|"],
    [["cursor", "advance", "w", "-3"], "0|10\n|"],
    [["cursor", "advance", "w", "1e1"], "0|10\n|"],
    [["cursor", "advance", "w", "10.5"], "0|10.5\n|"],
    [["cursor", "advance", "w", "-3", "--force"], "0|-3\n|"],
    [["cursor", "advance", "iso", "2026-07"], "0|2026-07\n|"],
    [["cursor", "advance", "iso", "2026-06"], "0|2026-07\n|"],
    [["cursor", "get", "iso"], "0|2026-07\n|"],
    [
      ["cursor", "advance", "iso", "5"],
      "1||cronstable cursor: cursor 'iso' holds a str but was advanced with a int; advance it with a comparable value or pass force\n",
    ],
  ],
  idempotent: [
    [["idempotent", "k"], "0||"],
    [["idempotent", "k"], "5||"],
    [["idempotent", "k", "--release"], "0||"],
    [["idempotent", "--ttl", "60", "k"], "0||"],
    [["idempotent", "k", "--global"], "0||"],
  ],
  lock: [
    [["lock", "run", "m", "--", "sh", "-c", "echo held; exit 7"], "7|held\n|"],
    [["lock", "run", "m", "echo", "no", "dashes"], "0|no dashes\n|"],
    [["lock", "run", "m", "--", "echo", "--wait", "--", "--help"], "0|--wait -- --help\n|"],
    [["lock", "run", "m", "--", "sh", "-c", "kill -9 $$"], "137||"],
    [
      ["lock", "run", "m", "--", "/nowhere/at-all"],
      "1||cronstable lock: cannot run '/nowhere/at-all': there is no such command\n",
    ],
    [["lock", "run", "m", "--", "/etc/passwd"], "1||cronstable lock: cannot run '/etc/passwd': permission denied\n"],
    [["lock", "run", "m"], "1||cronstable lock: lock run needs a command to run (put it after `--`)\n"],
    [["lock", "acquire", "m", "--permits", "0"], "1||cronstable lock: permits must be >= 1\n"],
    [["lock", "acquire", "m", "--permits", "1025"], "1||cronstable lock: permits must be <= 1024\n"],
    [
      ["lock", "run", "m", "--", "sh", "-c", `"${process.execPath}" dist/cronstable.cjs lock acquire m`],
      "3||lock not acquired: m\n",
    ],
    [["lock", "release", "0123"], "0||"],
  ],
  artifact: [
    [["artifact", "get", "report"], "4||artifact not found: report\n"],
    [
      ["artifact", "put", "report", "/nowhere"],
      "1||cronstable artifact: cannot read /nowhere: ENOENT: no such file or directory, stat '/nowhere'\n",
    ],
    [["artifact", "list"], "0||"],
  ],
  secret: [
    [["secret", "list"], "0|A\nB\n|"],
    [["secret", "get", "A"], "0|Aé\n|"],
    [["secret", "get", "X"], "4||secret not staged: X\n"],
  ],
  "what cannot be understood": [
    [["cursor"], "2||cronstable cursor: no action given (see --help)\n"],
    [["lock"], "2||cronstable lock: no action given (see --help)\n"],
    [["artifact"], "2||cronstable artifact: no action given (see --help)\n"],
    [["secret"], "2||cronstable secret: no action given (see --help)\n"],
    [["xcom"], "2||cronstable xcom: no action given (see --help)\n"],
    [["state"], "2||cronstable state: no action given (see `cronstable state --help`)\n"],
    [
      ["state", "get"],
      "2||usage: cronstable state get [options] <key>\ncronstable state get: error: missing required argument 'key'\n",
    ],
    [
      ["state", "get", "k", "--scope", "a", "--global"],
      "2||usage: cronstable state get [options] <key>\ncronstable state get: error: option '--scope <NAME>' cannot be used with option '--global'\n",
    ],
    [
      ["lock", "acquire", "m", "--permits", "two"],
      "2||usage: cronstable lock acquire [options] <name>\ncronstable lock acquire: error: option '--permits <N>' argument 'two' is invalid. 'two' is not a whole number\n",
    ],
    [
      ["xcom", "push", "--key", ""],
      "2||usage: cronstable xcom push [options] [file]\ncronstable xcom push: error: option '--key <KEY>' argument '' is invalid. '' is not a key: it is empty or has control characters\n",
    ],
    [
      ["idempotent", "--", "k"],
      "2||usage: cronstable [options] [command]\ncronstable: error: `--` is only valid before a `lock run` command\n",
    ],
    [
      ["lock", "acquire", "--", "m"],
      "2||usage: cronstable [options] [command]\ncronstable: error: `--` is only valid before a `lock run` command\n",
    ],
  ],
};

test.each(Object.entries(scripts))("%s (KV-1, IDM-1, CLI-1, CLI-2, CLI-4)", async (name, steps) => {
  const environment = await environmentOf(name);
  const ended: string[] = [];
  for (const [args] of steps) ended.push(await runCommand(environment, args));
  expect(ended).toEqual(steps.map(([, expected]) => expected));
});

describe("artifact", () => {
  test("hands bytes over as they are, from a file, from stdin, to stdout and to a file (ART-1)", async () => {
    const environment = await environmentOf("artifact bytes");
    const payload = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) % 256));
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    writeFileSync(from, payload);
    const put = await runCommand(environment, ["artifact", "put", "big", from]);
    expect(put).toMatch(/^0\|[0-9a-f]{64}\n\|$/);
    expect(await runCommand(environment, ["artifact", "put", "piped"], payload)).toBe(put);
    expect(await runCommand(environment, ["artifact", "put", "dashed", "-"], payload)).toBe(put);
    expect(await runCommand(environment, ["artifact", "get", "big", "-o", to])).toBe("0||");
    expect(readFileSync(to)).toEqual(payload);
    expect(await runCommand(environment, ["artifact", "put", "empty", "/dev/null"])).toMatch(/^0\|e3b0c442/);
    expect(await runCommand(environment, ["artifact", "put", "text"], "to stdout\n")).toMatch(/^0\|/);
    expect(await runCommand(environment, ["artifact", "get", "text", "--output=-"])).toBe("0|to stdout\n|");
    expect(await runCommand(environment, ["artifact", "list"])).toBe("0|big\ndashed\nempty\npiped\ntext\n|");
    expect(await runCommand(environment, ["artifact", "get", "text", "-o", "/nowhere/x"])).toMatch(
      /^1\|\|cronstable artifact: cannot write \/nowhere\/x: ENOENT/,
    );
  });

  test("that is too large is refused with the reason, whether or not all of it was sent (D-XCM-6)", async () => {
    const environment = await environmentOf("artifact size");
    const large = join(folder, "large");
    writeFileSync(large, Buffer.alloc(600_000));
    expect(await runCommand(environment, ["artifact", "put", "large"], Buffer.alloc(500_001))).toBe(
      "1||cronstable artifact: artifact of 500001 bytes exceeds the configured limit of 500000 bytes\n",
    );
    expect(await runCommand(environment, ["artifact", "put", "large", large])).toBe(
      "1||cronstable artifact: Maximum request body size 565536 exceeded, actual body size 600000\n",
    );
  });
});

describe("xcom", () => {
  const taskOf = async (taskKey: string, runId = "9771") => {
    const [task = ""] = taskKey.split("#");
    const scope = `dagxcom/etl/${runId}`;
    const { environment } = await api.register(aRun({ name: `etl.${task}`, defaultScope: scope }));
    return { CRONSTABLE_DAG_TASKKEY: taskKey, CRONSTABLE_DAG_XCOM_SCOPE: scope, ...environment };
  };

  test("hands data from task to task of one run (D-XCM-1, D-XCM-2, D-XCM-3, D-XCM-5)", async () => {
    const [extract, load] = [await taskOf("extract"), await taskOf("load")];
    const file = join(folder, "ids");
    writeFileSync(file, "[1, 2]\n");
    expect(await runCommand(extract, ["xcom", "push", "--key", "ids"], "[1]\n")).toBe("0||");
    expect(await runCommand(extract, ["xcom", "push", "--key", "ids", file])).toBe("0||");
    expect(await runCommand(await taskOf("map#1"), ["xcom", "push", "--key", "a/b"], "item")).toBe("0||");
    expect(await runCommand(load, ["xcom", "pull", "--task", "extract", "--key", "ids"])).toBe("0|[1, 2]\n|");
    expect(await runCommand(load, ["xcom", "pull", "--task", "map", "--key", "a/b", "--map-index", "1"])).toBe(
      "0|item|",
    );
    expect(await runCommand(load, ["xcom", "pull", "--task", "map", "--key", "a/b"])).toBe(
      "4||no xcom 'a/b' from task 'map'\n",
    );
    expect(await runCommand(load, ["xcom", "pull", "--task", "map", "--key", "a/b", "--map-index", "2"])).toBe(
      "4||no xcom 'a/b' from task 'map#2'\n",
    );
    expect(await runCommand(load, ["xcom", "list"])).toBe("0|extract/ids\nmap#1/a/b\n|");
    expect(await runCommand(await taskOf("load", "other"), ["xcom", "list"])).toBe("0||");
  });

  test("is nothing for a job that is no task (D-XCM-4)", async () => {
    expect(await runCommand(await environmentOf("job"), ["xcom", "list"])).toBe(
      "1||cronstable xcom: not running inside a cronstable DAG task: CRONSTABLE_DAG_XCOM_SCOPE is not set (the daemon sets it for the tasks of a DAG)\n",
    );
  });
});

describe("a command without its endpoint", () => {
  test("says that it runs in no job (CLI-2)", async () => {
    expect(await runCommand({}, ["state", "get", "k"])).toBe(
      `1||cronstable state: not running inside a cronstable job: CRONSTABLE_STATE_URL is not set ${notInAJob}\n`,
    );
    expect(await runCommand({ CRONSTABLE_STATE_URL: api.url }, ["idempotent", "k"])).toBe(
      `1||cronstable idempotent: not running inside a cronstable job: CRONSTABLE_STATE_TOKEN is not set ${notInAJob}\n`,
    );
  });

  test("says that it cannot be reached (CLI-3)", async () => {
    const environment = await environmentOf("alone", { CRONSTABLE_STATE_URL: "http://127.0.0.1:9" });
    expect(await runCommand(environment, ["cursor", "get", "w"])).toBe(
      "1||cronstable cursor: cannot reach the cronstable state endpoint at http://127.0.0.1:9: connect ECONNREFUSED 127.0.0.1:9\n",
    );
  });

  test("is not admitted once its run has ended", async () => {
    const run = aRun();
    const { environment } = await api.register(run);
    await api.release(run.runId);
    expect(await runCommand(environment, ["state", "get", "k"])).toBe("1||cronstable state: 401: Unauthorized\n");
  });
});

describe("what stands between a command and its endpoint", () => {
  test("no proxy of the environment (CLI-3)", async () => {
    const proxies = {
      HTTP_PROXY: "http://127.0.0.1:9",
      http_proxy: "http://127.0.0.1:9",
      ALL_PROXY: "http://127.0.0.1:9",
    };
    const environment = await environmentOf("proxied", { ...proxies, NODE_USE_ENV_PROXY: "1" });
    expect(await runCommand(environment, ["state", "keys"])).toBe("0||");
  });

  test("no redirect is followed, and what is no JSON is shown as its status", async () => {
    const answers = [
      [302, { Location: `${api.url}/v1/run` }, ""],
      [500, {}, "<html>"],
      [200, {}, "<html>"],
    ] as const;
    let at = 0;
    const server = createServer((_request, response) => {
      const [status, headers, body] = answers[at++] ?? [500, {}, ""];
      response.writeHead(status, headers).end(body);
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const environment = await environmentOf("redirected", { CRONSTABLE_STATE_URL: url });
    const ended: string[] = [];
    for (const _ of answers) ended.push(await runCommand(environment, ["state", "get", "k"]));
    server.close();
    expect(ended).toEqual([
      "1||cronstable state: the state endpoint returned HTTP 302\n",
      "1||cronstable state: the state endpoint returned HTTP 500\n",
      "1||cronstable state: the state endpoint did not answer with a JSON object\n",
    ]);
  });
});

test("a name that is no UTF-8 is refused, not changed", async () => {
  const environment = await environmentOf("bytes");
  const { execFileSync } = await import("node:child_process");
  const script = `"$0" "$1" state get "$(printf 'a\\377b')" 2>&1; echo $?`;
  const ended = execFileSync("sh", ["-c", script, process.execPath, "dist/cronstable.cjs"], {
    env: { ...process.env, ...environment },
  });
  expect(String(ended)).toBe("cronstable state: an argument is not valid UTF-8\n1\n");
});

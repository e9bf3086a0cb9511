import { describe, expect, test } from "vitest";
import { type OutputText, REDACTED, redactLine, redactLines } from "../../../src/journal/archive/redaction.rules.ts";

const R = REDACTED;
const out = (...lines: string[]): OutputText[] => lines.map((line) => ({ stream: "stdout", line }));
const redacted = (...lines: string[]): string[] => redactLines(out(...lines)).map(({ line }) => line);

describe("ARC-4: what is recognised", () => {
  test.each([
    // 1: secret-bearing assignments
    ['{"password": "p\\"q", "x": 1}', `{"password": ${R}, "x": 1}`],
    ["password: a b, next", `password: ${R}`],
    ["PWD=/home/x", `PWD=${R}`],
    ["PASSWORD=hunter2", `PASSWORD=${R}`],
    ["PGPASSWORD=hunter2 rest of line", `PGPASSWORD=${R}`],
    ["export MY_TOKEN='a b'; echo done", `export MY_TOKEN=${R}; echo done`],
    ["AWS_SECRET_ACCESS_KEY = abc/def", `AWS_SECRET_ACCESS_KEY = ${R}`],
    ["{secret: abc , other: 1}", `{secret: ${R} , other: 1}`],
    ["tokens=[abc]", `tokens=${R}]`],
    ["api-key: 1, api_key: 2, apikey: 3", `api-key: ${R}, api_key: ${R}, apikey: ${R}`],
    ["privateKey=x auth-token=y", `privateKey=${R}`],
    ["rediscli_auth=z", `rediscli_auth=${R}`],
    ['credentials="never closed', `credentials=${R}`],
    ["Enter password: ", "Enter password: "],
    ["password=", "password="],
    // 2: credentials in URLs
    ["postgres://app:hunter2@db/x", `postgres://app:${R}@db/x`],
    ["redis://:pw@h", `redis://:${R}@h`],
    ["a=amqp+ssl://u:p:q@h and http://v:w@i", `a=amqp+ssl://u:${R}@h and http://v:${R}@i`],
    // 3, 4: authorization headers
    ["Authorization: Bearer abcdefgh12==", `Authorization: Bearer ${R}`],
    ["BEARER   abc.def-ghi", `BEARER   ${R}`],
    ["authorization: basic dXNlcjpwdw==", `authorization: basic ${R}`],
    ["authorization basic dXNlcjpwdw==", `authorization basic ${R}`],
    ['"Authorization": "Basic dXNlcjpwdw=="', `"Authorization": "Basic ${R}"`],
    // 5 to 11: token formats
    ["id AKIAIOSFODNN7EXAMPLE.", `id ${R}.`],
    ["xoxb-12345678-abc", R],
    ["ghp_abcdefghijklmnopqrst", R],
    ["github_pat_11ABCDEFG0_abcdefghij", R],
    ["use sk-abcdefghijklmnop now", `use ${R} now`],
    ["rk_live_abcdefghijklmnop", R],
    ["sk_test_abcdefghijklmnop", R],
    ["jwt eyJhbGciOi.eyJzdWIi.SflKxw end", `jwt ${R} end`],
  ])("%s", (line, expected) => expect(redactLine(line)).toBe(expected));

  test.each([
    "oauth: on",
    "key=val",
    "basic understanding",
    "http://host:80/",
    "bearer short",
    "task-abcdefghijklmnopqrst is no key",
    "AKIASHORT",
    "eyJhbG.ab.cd",
    "",
  ])("%s stays as it is", (line) => expect(redactLine(line)).toBe(line));

  test("12: the header of a private key and the rest of its line", () => {
    expect(redactLine("key: -----BEGIN RSA PRIVATE KEY-----MIIE")).toBe(`key: ${R}`);
  });
});

describe("ARC-4: private keys span lines", () => {
  test("every line of the block becomes the replacement, its footer too", () => {
    expect(redacted("a", "-----BEGIN PRIVATE KEY-----", "MIIE", "AB==", "-----END PRIVATE KEY-----", "b")).toEqual([
      "a",
      R,
      R,
      R,
      R,
      "b",
    ]);
  });

  test("a block that never ends stays redacted to the end", () => {
    expect(redacted("-----BEGIN EC PRIVATE KEY-----", "MIIE", "b")).toEqual([R, R, R]);
  });

  test("a batch whose first marker is a footer begins inside a block", () => {
    expect(redacted("MIIE", "-----END PRIVATE KEY-----", "b")).toEqual([R, R, "b"]);
  });

  test("a key on one line ends on it", () => {
    expect(redacted('{"k":"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----"}', "b")).toEqual([
      `{"k":"${R}`,
      "b",
    ]);
  });

  test("a block on one stream does not hide lines of the other that come in between", () => {
    const lines: OutputText[] = [
      { stream: "stdout", line: "-----BEGIN PRIVATE KEY-----" },
      { stream: "stderr", line: "progress 50 %" },
      { stream: "stdout", line: "MIIE" },
    ];
    expect(redactLines(lines).map(({ line }) => line)).toEqual([R, "progress 50 %", R]);
  });
});

describe("ARC-4: hostile text costs no more than its length", () => {
  const length = 1_000_000;
  const fill = (pattern: string): string => pattern.repeat(Math.ceil(length / pattern.length));
  test.each([
    "a",
    " ",
    "=",
    "eyJ",
    "eyJaaaaaa.bbbb.",
    "eyJaaaaaa.eyJ",
    "password ",
    "password=' ",
    'token="\\',
    "token=a ",
    "token=a,",
    "http://",
    "http://a:",
    "http://a:b",
    "bearer ",
    "authorization ",
    "authorization: basic ",
    "sk-a ",
    "xoxb-",
    "ghp_",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY",
  ])("%j over and over", (pattern) => {
    const small = cost(fill(pattern).slice(0, length / 8));
    const large = cost(fill(pattern));
    // Eight times the text: quadratic cost would be sixty-four times as much.
    expect(large).toBeLessThan(30 * Math.max(small, 2000));
  });
});

/** Processor time in microseconds, the least of three. */
function cost(line: string): number {
  const once = (): number => {
    const { user } = process.cpuUsage();
    redactLine(line);
    return process.cpuUsage().user - user;
  };
  return Math.min(once(), once(), once());
}

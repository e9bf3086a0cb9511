import { describe, expect, test } from "vitest";
import { isFetchable, judgeList } from "../../src/dag/fan-out-list.rules.ts";
import { FAN_OUT_INLINE_BYTES_MAX } from "../../src/dag/limits.ts";
import { mapItemText, taskFacts } from "../../src/dag/task-facts.rules.ts";
import { dagTaskEnvironment } from "../../src/jobapi/run-environment.ts";
import { encodeEnvelope } from "../../src/store/envelope.ts";
import { parseJson } from "../../src/store/json-text.ts";
import { bodyOf, items, runOnPaper, succeeds } from "./run-on-paper.ts";

const payload = (text: string | Uint8Array) =>
  judgeList({ kind: "payload", bytes: typeof text === "string" ? new TextEncoder().encode(text) : text });

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

test("D-MAP-7 (a): a key that was never published is an empty list, without a word", () => {
  expect(judgeList({ kind: "absent" })).toEqual({ list: items(), problem: null });
});

test("a list is taken as it is, numbers and their types included", () => {
  expect(payload('[1, 2.0, 18446744073709551615, "ä", null, {"k": [true]}]\n')).toEqual({
    list: { kind: "items", items: parseJson('[1,2.0,18446744073709551615,"ä",null,{"k":[true]}]') },
    problem: null,
  });
});

describe("D-MAP-7, D-MAP-8: what is no usable list is an empty one, and says why", () => {
  test.each<readonly [string, ReturnType<typeof judgeList>, RegExp]>([
    ["(b) no JSON", payload("nope"), /^it is not JSON/],
    ["(b) nothing at all", payload(""), /^it is not JSON/],
    ["(b) not UTF-8", payload(new Uint8Array([0x5b, 0xff, 0x5d])), /^it is not UTF-8$/],
    ["(b) a byte order mark", payload("\ufeff[1]"), /^it is not JSON/],
    ["(b) an object", payload('{"a": 1}'), /^it is not a list$/],
    ["(b) a text", payload('"[1]"'), /^it is not a list$/],
    ["(b) an integer beyond 64 bits", payload("[18446744073709551616]"), /out of range/],
    ["(b) a number beyond doubles", payload("[1e999]"), /out of range/],
    ["(b) not a number", payload("[NaN]"), /^it is not JSON/],
    ["(b) half a surrogate pair", payload('["\\ud800"]'), /half of a surrogate pair/],
    ["(b) deeper than a document may be", payload(nested(125)), /deep/],
    ["(c) a payload that is gone", judgeList({ kind: "gone" }), /^its payload is gone from the store$/],
    ["D-MAP-12: too large", judgeList({ kind: "too large", bytes: 16_777_217 }), /^its 16777217 bytes exceed/],
  ])("%s", (_, { list, problem }, said) => {
    expect(list).toEqual(items());
    expect(problem).toMatch(said);
  });
});

test("what is exactly as deep as a document may be is a list, and can be written", () => {
  const { list } = payload(nested(124));
  expect(list).toMatchObject({ kind: "items", items: { length: 1 } });
  const run = runOnPaper([{ id: "s" }, { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
  run.pass();
  run.end("s", succeeds);
  run.expand({ m: list });
  expect(encodeEnvelope(bodyOf(run.document)).kind).toBe("text");
});

test("a list that is judged off the event loop is judged alike", () => {
  const text = `["${"x".repeat(FAN_OUT_INLINE_BYTES_MAX)}"]`;
  expect(payload(text)).toMatchObject({ list: { kind: "items", items: { length: 1 } }, problem: null });
});

test("D-MAP-12: 16 MiB are fetched, one byte more is not", () => {
  expect([isFetchable(16_777_216), isFetchable(16_777_217)]).toEqual([true, false]);
});

describe("D-MAP-10: the cap", () => {
  const list = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(",")}]`;
  test("1000 items are fine", () => {
    expect(payload(list(1000, "1")).list).toMatchObject({ kind: "items", items: { length: 1000 } });
  });
  test("1001 are not, whatever they are", () => {
    expect(payload(list(1001, "1"))).toEqual({ list: { kind: "too many", count: 1001 }, problem: null });
    expect(payload(list(1001, "1e999")).list).toEqual({ kind: "too many", count: 1001 });
  });
});

test.each([
  ['"a"', '"a"'],
  ['{"k":1,"a":[1,2.0]}', '{"k": 1, "a": [1, 2.0]}'],
  ["3", "3"],
  ["null", ""],
  ['""', '""'],
  ['"ä\\n\\u2028😀"', '"\\u00e4\\n\\u2028\\ud83d\\ude00"'],
  ['"$(touch /tmp/x)"', '"$(touch /tmp/x)"'],
  ["18446744073709551615", "18446744073709551615"],
])("D-ENV-1, F70: the item %s is told as %s", (item, text) => {
  expect(mapItemText(parseJson(item))).toBe(text);
});

test("D-ENV-1: what an instance is told, and what a plain task is", () => {
  const run = runOnPaper([{ id: "s" }, { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
  const [plain] = run.pass().claims;
  run.end("s", succeeds);
  run.expand({ m: items("a", { k: 1 }) });
  const [, mapped] = run.pass().claims;
  if (plain === undefined || mapped === undefined) throw new Error("no claims");
  const common = {
    CRONSTABLE_DAG_NAME: "d",
    CRONSTABLE_DAG_RUN_ID: run.document.runId,
    CRONSTABLE_DAG_RUN_KEY: run.document.runKey,
    CRONSTABLE_DAG_XCOM_SCOPE: `dagxcom/d/${run.document.runId}`,
    CRONSTABLE_DAG_LOGICAL_DATE: "",
  };
  expect(dagTaskEnvironment(taskFacts(run.document, plain))).toEqual({
    ...common,
    CRONSTABLE_DAG_TASK: "s",
    CRONSTABLE_DAG_TASKKEY: "s",
    CRONSTABLE_DAG_MAP_INDEX: "",
    CRONSTABLE_DAG_MAP_ITEM: "",
  });
  const dated = { ...run.document, logicalDate: "2026-07-04T02:00:00+00:00" };
  expect(dagTaskEnvironment(taskFacts(dated, mapped))).toEqual({
    ...common,
    CRONSTABLE_DAG_TASK: "m",
    CRONSTABLE_DAG_TASKKEY: "m#1",
    CRONSTABLE_DAG_MAP_INDEX: "1",
    CRONSTABLE_DAG_MAP_ITEM: '{"k": 1}',
    CRONSTABLE_DAG_LOGICAL_DATE: "2026-07-04T02:00:00+00:00",
  });
});

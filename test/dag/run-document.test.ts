import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freshRun } from "../../src/dag/run-document.ts";
import { decodeRun, encodeRun } from "../../src/dag/run-document-codec.ts";
import { decodeEnvelope, encodeEnvelope } from "../../src/store/envelope.ts";
import { isObject, JsonFloat, type JsonObject } from "../../src/store/json.ts";
import { encodeJson, parseJson } from "../../src/store/json-text.ts";
import { bodyOf, dagOf, IDENTITY, runOnPaper, succeeds, throughTheStore } from "./run-on-paper.ts";

const sampleNames = ["dag-run.json", "dag-run.sensor-and-failure.json"];

function text(body: JsonObject): string {
  const encoded = encodeJson(body);
  if (encoded.kind !== "text") throw new Error(encoded.problem);
  return encoded.text;
}

function rewritten(body: JsonObject): string {
  const decoded = decodeRun(body);
  if (decoded.kind !== "run") throw new Error(decoded.problem);
  return text(encodeRun(decoded.run));
}

test("documents the existing implementation wrote are read, and written back byte by byte", () => {
  const root = mkdtempSync(join(tmpdir(), "cronstable-dag-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  execFileSync("tar", ["-xzf", new URL("../data/reference-store.tar.gz", import.meta.url).pathname, "-C", root]);
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => /dagrun.*\.doc$/.test(path));
  expect(paths.length).toBeGreaterThan(5);
  for (const path of paths) {
    const file = readFileSync(join(root, path), "utf8");
    const envelope = decodeEnvelope(file);
    if (envelope.kind !== "current") throw new Error(path);
    const decoded = decodeRun(envelope.data);
    if (decoded.kind !== "run") throw new Error(decoded.problem);
    expect(encodeEnvelope(encodeRun(decoded.run))).toEqual({ kind: "text", text: file.trimEnd() });
  }
});

test.each(sampleNames)("the sample %s is read, and written back as the same value", (name) => {
  const body = parseJson(readFileSync(new URL(`../data/http-samples/${name}`, import.meta.url), "utf8"));
  if (!isObject(body)) throw new Error("no object");
  expect(rewritten(body)).toBe(text(body));
});

test("5.3: a fresh run has one pending record per task, each with the fields of its kind", () => {
  const dag = dagOf([
    { id: "plain" },
    { id: "wait", type: "sensor" },
    { id: "gate", type: "approval" },
    { id: "map", dependsOn: ["plain"], expand: { fromTask: "plain", key: "k" } },
  ]);
  const common = {
    attempt: 0,
    exitCode: null,
    failReason: null,
    finishedAt: null,
    host: null,
    mapIndex: null,
    pid: null,
    proc: null,
    resources: null,
    startedAt: null,
    state: "pending",
    updatedAt: new JsonFloat(7),
  };
  expect(encodeRun(freshRun(dag, IDENTITY, 7))).toEqual({
    dag: "d",
    runKey: IDENTITY.runKey,
    runId: IDENTITY.runId,
    kind: "manual",
    logicalDate: null,
    state: "running",
    createdAt: new JsonFloat(7),
    updatedAt: new JsonFloat(7),
    mapped: {},
    tasks: {
      plain: { ...common, id: "plain" },
      wait: { ...common, id: "wait", pokeCount: 0, nextPokeAt: null },
      gate: { ...common, id: "gate", approval: null },
      map: { ...common, id: "map", mapped: true },
    },
  });
});

test("5.4: a task in flight and a finished one look as they always did", () => {
  const run = runOnPaper([{ id: "a" }]);
  run.now = 1796028441.25;
  run.pass();
  expect(text(bodyOf(run.document))).toContain(
    '"a":{"attempt":0,"exitCode":null,"failReason":null,"finishedAt":null,"host":"here","id":"a","mapIndex":null,"pid":null,' +
      '"proc":"0123456789ab","resources":null,"startedAt":1796028441.25,"state":"running","updatedAt":1796028441.25}',
  );
  run.now = 1796028442;
  run.end("a", succeeds);
  run.pass();
  expect(text(bodyOf(run.document))).toBe(
    '{"createdAt":1796028441.5,"dag":"d","kind":"manual","logicalDate":null,"mapped":{},"runId":"0123456789abcdef0123456789abcdef",' +
      '"runKey":"manual-000000000001","state":"success","tasks":{"a":{"attempt":0,"exitCode":0,"failReason":null,' +
      '"finishedAt":1796028442.0,"host":"here","id":"a","mapIndex":null,"pid":null,"proc":null,"resources":null,' +
      '"startedAt":1796028441.25,"state":"success","updatedAt":1796028442.0}},"updatedAt":1796028442.0}',
  );
});

const whole = bodyOf(freshRun(dagOf([{ id: "a" }]), IDENTITY, 7));

function withTask(record: unknown): JsonObject {
  return { ...whole, tasks: { a: record } } as JsonObject;
}

test("D-REC-1: fields that were added later may be missing", () => {
  const decoded = decodeRun(withTask({ id: "a", state: "running" }));
  expect(decoded).toMatchObject({ kind: "run", run: { configurationRevision: null, recovery: null } });
  if (decoded.kind !== "run") return;
  expect(decoded.run.tasks.get("a")).toEqual({
    id: "a",
    state: "running",
    mapIndex: null,
    attempt: 0,
    proc: null,
    pid: null,
    host: null,
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    failReason: null,
    resources: null,
    updatedAt: 0,
  });
});

test.each<readonly [string, JsonObject, string]>([
  ["a null entry", withTask(null), 'tasks["a"] is null'],
  ["an entry that is a list", withTask([]), 'tasks["a"] is not an object'],
  ["an entry without state", withTask({ id: "a" }), 'tasks["a"].state is not a text'],
  [
    "an entry of wrong type",
    withTask({ id: "a", state: "pending", attempt: "1" }),
    'tasks["a"].attempt is not what it should be',
  ],
  [
    "a sensor of wrong type",
    withTask({ id: "a", state: "pending", pokeCount: null }),
    'tasks["a"].pokeCount is not what it should be',
  ],
  ["mapped: null", { ...whole, mapped: null }, "mapped is null"],
  ["no items", { ...whole, mapped: { m: { items: null } } }, 'mapped["m"].items is not a list'],
  ["no tasks", { ...whole, tasks: [] }, "tasks is not an object"],
  ["another state", { ...whole, state: "paused" }, "state is none of running, success and failed"],
  ["no run id", { ...whole, runId: 7 }, "runId is not a text"],
])("D-REC-2: %s is damage, and named", (_, body, problem) => {
  expect(decodeRun(body)).toEqual({ kind: "damaged", problem });
});

test("D-REC-3: what only a newer build knows goes through every change", () => {
  const run = runOnPaper([{ id: "a", retries: 1 }]);
  const future: JsonObject = { ...bodyOf(run.document), future: { deep: [1, new JsonFloat(2)] } };
  const { tasks } = future;
  if (!isObject(tasks) || !isObject(tasks.a)) throw new Error("no task");
  const decoded = decodeRun({ ...future, tasks: { a: { ...tasks.a, color: "red" } } });
  if (decoded.kind !== "run") throw new Error(decoded.problem);
  run.document = decoded.run;
  run.pass();
  run.end("a", { kind: "launch failed" });
  run.pass();
  run.end("a", succeeds);
  run.pass();
  expect(bodyOf(run.document)).toMatchObject({
    state: "success",
    future: { deep: [1, new JsonFloat(2)] },
    tasks: { a: { color: "red", state: "success" } },
  });
});

test("task ids that mean something to objects are ordinary keys", () => {
  const dag = dagOf([{ id: "__proto__" }, { id: "constructor", dependsOn: ["__proto__"] }]);
  const document = throughTheStore(freshRun(dag, IDENTITY, 7));
  expect([...document.tasks.keys()].sort()).toEqual(["__proto__", "constructor"]);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { jsonSchema, jsonSchemaText } from "../../src/config/json-schema.ts";
import { referenceLists, withReferenceLists } from "../../src/config/reference.ts";

const file = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const regenerate = "run `npm run schema`, look at the difference and commit it";

test("the schema for editors is the one the code has", () => {
  expect(file("schema/cronstable.schema.json") === jsonSchemaText(), regenerate).toBe(true);
});

test("the manual lists the keys the code has, each once, and no others", () => {
  const manual = file("docs/configuration.md");
  expect(withReferenceLists(manual) === manual, regenerate).toBe(true);
  const asked = [...manual.matchAll(/<!-- keys: (\w+) -->/g)].map(([, name]) => name);
  expect(asked.toSorted()).toEqual([...referenceLists().keys()].sort());
});

test("every key has a description", () => {
  const lists = [...referenceLists().values()].join("");
  expect(lists.match(/^ *- `\w+` \([^)]*(?:\([^)]*\)[^)]*)*\): *$/gm)).toBeNull();
  expect(lists.split("\n").length).toBeGreaterThan(200);
});

const editor = z.fromJSONSchema(jsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);

test("editors accept what the daemon does, as their YAML reads it", () => {
  for (const sample of [file("test/data/http-samples/config.yaml.txt"), file("examples/quickstart.yaml")])
    expect(editor.safeParse(parse(sample)).error?.issues).toBeUndefined();
  const odd = `
web: {listen: ["http://127.0.0.1:1"], metrics: yes, nodeHistory: {interval: 2}}
mcp:
jobs:
  - name: 7
    command: [echo, 1.5, true]
    schedule: {minute: 5}
    saveLimit: "5"
    workingDirectory:
    executionTimeout: 1.5
    verify: ~
    user: 1000
    onFailure: {report: {mail: {from: a, to: }, webhook: {url: {fromEnvVar: X}}}}
`;
  expect(editor.safeParse(parse(odd)).error?.issues).toBeUndefined();
});

test.each([
  "jbos: []",
  "jobs: [{name: a, command: x}]",
  "jobs: [{name: a, command: x, schedule: '@daily', concurrencyPolicy: forbid}]",
  "jobs: [{name: a, command: x, schedule: '@daily', saveLimit: many}]",
  "defaults: {name: a}",
  "dags: [{name: d, tasks: [{id: a, onFailure: {retry: {}}}]}]",
])("editors mark %s", (text) => {
  expect(editor.safeParse(parse(text)).success).toBe(false);
});

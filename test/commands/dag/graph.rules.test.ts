import fc from "fast-check";
import { expect, test } from "vitest";
import { drawGraph, layersOf } from "../../../src/commands/dag/graph.rules.ts";
import { dagOf } from "./one-dag.ts";

const release = dagOf("release", [
  { id: "tidy", dependsOn: ["ship", "check"], triggerRule: "all_done" },
  { id: "build", retries: 2 },
  { id: "check", dependsOn: ["build"], expand: { fromTask: "build", key: "parts" } },
  { id: "agree", dependsOn: ["check"], type: "approval", onReject: "skip" },
  { id: 'say "go"', dependsOn: ["agree"], type: "sensor" },
  { id: "ship", dependsOn: ['say "go"'] },
]);

test("a graph as text has the tasks step by step, with what they wait for and what sets them apart", () => {
  expect(drawGraph(release, "text").join("\n")).toMatchInlineSnapshot(`
    "release
    1.
       build  [2 retries]
    2.
       check <- build  [one per item of build/parts]
    3.
       agree <- check  [approval, a rejection skips]
    4.
       say "go" <- agree  [sensor]
    5.
       ship <- say "go"
    6.
       tidy <- ship, check  [whatever comes of them]"
  `);
});

test("a graph as DOT has each task once and each edge once", () => {
  expect(drawGraph(release, "dot").join("\n")).toMatchInlineSnapshot(`
    "digraph "release" {
      rankdir=LR;
      "tidy" [label="tidy\\nwhatever comes of them", shape=box];
      "build" [label="build\\n2 retries", shape=box];
      "check" [label="check\\none per item of build/parts", shape=box, peripheries=2];
      "agree" [label="agree\\napproval, a rejection skips", shape=diamond];
      "say \\"go\\"" [label="say \\"go\\"\\nsensor", shape=ellipse];
      "ship" [label="ship", shape=box];
      "ship" -> "tidy" [style=dashed];
      "check" -> "tidy" [style=dashed];
      "build" -> "check";
      "check" -> "agree";
      "agree" -> "say \\"go\\"";
      "say \\"go\\"" -> "ship";
    }"
  `);
});

test("a graph as Mermaid has each task once and each edge once", () => {
  expect(drawGraph(release, "mermaid").join("\n")).toMatchInlineSnapshot(`
    "---
    title: "release"
    ---
    flowchart LR
      t0["tidy<br>whatever comes of them"]
      t1["build<br>2 retries"]
      t2[["check<br>one per item of build/parts"]]
      t3{"agree<br>approval, a rejection skips"}
      t4(["say #34;go#34;<br>sensor"])
      t5["ship"]
      t5 -.-> t0
      t2 -.-> t0
      t1 --> t2
      t2 --> t3
      t3 --> t4
      t4 --> t5"
  `);
});

test("a task stands below all that it waits for, whatever the order in the file", () => {
  const layers = layersOf(release);
  const stepOf = (id: string): number => layers.findIndex((layer) => layer.some((found) => found.id === id));
  for (const { id, dependsOn } of release.tasks)
    for (const upstream of dependsOn) expect(stepOf(upstream)).toBeLessThan(stepOf(id));
});

test("a chain that is deeper than the call stack, last task first, is drawn", () => {
  const chain = Array.from({ length: 20_000 }, (_, at) => ({
    id: `t${at}`,
    dependsOn: at === 0 ? [] : [`t${at - 1}`],
  }));
  const [task] = release.tasks;
  if (task === undefined) throw new Error("no task");
  const plain = { ...task, triggerRule: "all_success" as const };
  expect(layersOf({ ...release, tasks: chain.map((link) => ({ ...plain, ...link })).reverse() })).toHaveLength(20_000);
});

test("a key with a line break stays in its line", () => {
  const dag = dagOf("d", [{ id: "a" }, { id: "b", dependsOn: ["a"], expand: { fromTask: "a", key: "x\ny" } }]);
  expect(drawGraph(dag, "text").at(-1)).toBe("   b <- a  [one per item of a/x\\ny]");
  expect(drawGraph(dag, "dot").every((line) => !line.includes("\n"))).toBe(true);
  expect(drawGraph(dag, "mermaid").every((line) => !line.includes("\n"))).toBe(true);
});

/** Names that mean something to DOT, Mermaid, Markdown, HTML, or to nobody. */
const name = fc.oneof(
  fc.constantFrom(
    '"',
    "\\",
    '\\"',
    "end",
    "1. one",
    "- one",
    "`x`",
    "<b>&amp;",
    "a;b",
    "a->b",
    "]",
    "Ünïcödé 漢字 🙂",
    "style:x",
    "\\n",
  ),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((text) => !/[#/\p{Cc}\p{Cs}]/u.test(text)),
);

/** Two to five tasks, each waiting for some of those before it. */
const graph = fc
  .uniqueArray(name, { minLength: 2, maxLength: 5 })
  .chain((ids) =>
    fc
      .tuple(...ids.map((_, at) => fc.subarray(ids.slice(0, at))))
      .map((edges) => ids.map((id, at) => ({ id, dependsOn: edges[at] ?? [] }))),
  );
const edgesOf = (tasks: readonly { readonly id: string; readonly dependsOn: readonly string[] }[]) =>
  tasks.flatMap(({ id, dependsOn }) => dependsOn.map((upstream) => [upstream, id]));

test("DOT read back is the graph, whatever the names", () => {
  const text = String.raw`"((?:[^"\\]|\\.)*)"`;
  const unquoted = (written: string): string => written.replace(/\\(.)/g, "$1");
  fc.assert(
    fc.property(graph, (tasks) => {
      const lines = drawGraph(dagOf("d", tasks), "dot");
      const read = (pattern: string): string[][] =>
        lines.flatMap((line) => {
          const match = new RegExp(`^  ${pattern};$`, "u").exec(line);
          return match === null ? [] : [match.slice(1).map(unquoted)];
        });
      expect(read(String.raw`${text} \[label=${text}, shape=box\]`)).toEqual(tasks.map(({ id }) => [id, id]));
      expect(read(`${text} -> ${text}`)).toEqual(edgesOf(tasks));
      expect(lines).toHaveLength(3 + tasks.length + edgesOf(tasks).length);
    }),
    { numRuns: 60 },
  );
});

test("Mermaid read back is the graph, whatever the names, and no name means anything to it", () => {
  fc.assert(
    fc.property(graph, (tasks) => {
      const lines = drawGraph(dagOf("d", tasks), "mermaid").slice(4);
      const ids = new Map<string, string>();
      const edges: (string | undefined)[][] = [];
      for (const line of lines) {
        const [, number = "", label = ""] = /^ {2}(t\d+)\["([^"]*)"\]$/u.exec(line) ?? [];
        const [, from = "", to = ""] = /^ {2}(t\d+) --> (t\d+)$/.exec(line) ?? [];
        if (from !== "") edges.push([ids.get(from), ids.get(to)]);
        else {
          expect(label).not.toMatch(/[<>&`*\\:[\]{}()|]|^(?:[-+*]|\d+\.) /);
          ids.set(
            number,
            label.replace(/#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))),
          );
        }
      }
      expect([...ids.values()]).toEqual(tasks.map(({ id }) => id));
      expect(edges).toEqual(edgesOf(tasks));
    }),
    { numRuns: 60 },
  );
});

import type { DagConfig, DagTaskConfig } from "../../config/model.ts";
import { graphOf } from "../../dag/graph.rules.ts";
import { oneLine } from "./one-line.ts";

/** The forms a graph is drawn in. */
export const graphFormats = ["text", "dot", "mermaid"] as const;
export type GraphFormat = (typeof graphFormats)[number];

/** Draws the graph of a DAG, tasks in the order they may run in. */
export function drawGraph(dag: DagConfig, format: GraphFormat): string[] {
  switch (format) {
    case "text":
      return textGraph(dag);
    case "dot":
      return dotGraph(dag);
    case "mermaid":
      return mermaidGraph(dag);
  }
}

/** Tasks by how many steps they are from the beginning: a task stands one layer below the last of those it waits for. */
export function layersOf(dag: DagConfig): DagTaskConfig[][] {
  const { order } = graphOf(dag);
  const depths = new Map<string, number>();
  for (const { id, dependsOn } of order)
    depths.set(
      id,
      dependsOn.reduce((deepest, above) => Math.max(deepest, (depths.get(above) ?? 0) + 1), 0),
    );
  const layers: DagTaskConfig[][] = [];
  for (const task of dag.tasks) {
    const at = depths.get(task.id) ?? 0;
    const layer = layers[at];
    if (layer === undefined) layers[at] = [task];
    else layer.push(task);
  }
  return layers;
}

function textGraph(dag: DagConfig): string[] {
  const lines = [oneLine(dag.name)];
  for (const [step, layer] of layersOf(dag).entries()) {
    lines.push(`${step + 1}.`);
    for (const task of layer) {
      const after = task.dependsOn.length === 0 ? "" : ` <- ${task.dependsOn.map(oneLine).join(", ")}`;
      const traits = traitsOf(task);
      lines.push(`   ${oneLine(task.id)}${after}${traits.length === 0 ? "" : `  [${traits.join(", ")}]`}`);
    }
  }
  return lines;
}

/** What sets a task apart from a plain one. */
function traitsOf({ type, triggerRule, retries, expand, onReject }: DagTaskConfig): string[] {
  const traits: string[] = [];
  if (type === "sensor") traits.push("sensor");
  if (type === "approval") traits.push(`approval, a rejection ${onReject === "skip" ? "skips" : "fails"}`);
  if (triggerRule === "all_done") traits.push("whatever comes of them");
  if (retries > 0) traits.push(`${retries} ${retries === 1 ? "retry" : "retries"}`);
  if (expand !== null) traits.push(`one per item of ${oneLine(expand.fromTask)}/${oneLine(expand.key)}`);
  return traits;
}

const dotShapes = { task: "box", sensor: "ellipse", approval: "diamond" } as const;

function dotGraph({ name, tasks }: DagConfig): string[] {
  const nodes = tasks.map(
    (task) =>
      `  ${dotText(task.id)} [label=${dotLabel(task)}, shape=${dotShapes[task.type]}${task.expand === null ? "" : ", peripheries=2"}];`,
  );
  const edges = tasks.flatMap(({ id, dependsOn, triggerRule }) =>
    dependsOn.map(
      (upstream) => `  ${dotText(upstream)} -> ${dotText(id)}${triggerRule === "all_done" ? " [style=dashed]" : ""};`,
    ),
  );
  return [`digraph ${dotText(name)} {`, "  rankdir=LR;", ...nodes, ...edges, "}"];
}

/** Its lines are parted by `\\n`, DOT's own escape. */
function dotLabel(task: DagTaskConfig): string {
  const [first, ...more] = [task.id, ...traitsOf(task)].map((text) => dotText(text).slice(1, -1));
  return `"${[first, ...more].join("\\n")}"`;
}

/** A backslash is doubled: before a quote it would hide the end of the text, and in a label it begins an escape. */
function dotText(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

const mermaidShapes = { task: ["[", "]"], sensor: ["([", "])"], approval: ["{", "}"] } as const;

/** Mermaid takes plain words as ids, so tasks are numbered and labelled. */
function mermaidGraph({ name, tasks }: DagConfig): string[] {
  const numbers = new Map(tasks.map(({ id }, index) => [id, `t${index}`]));
  const nodes = tasks.map((task) => {
    const [open, close] = task.expand === null ? mermaidShapes[task.type] : ["[[", "]]"];
    const label = [task.id, ...traitsOf(task)].map(mermaidText).join("<br>");
    return `  ${numbers.get(task.id)}${open}"${label}"${close}`;
  });
  const edges = tasks.flatMap(({ id, dependsOn, triggerRule }) =>
    dependsOn.map(
      (upstream) => `  ${numbers.get(upstream)} ${triggerRule === "all_done" ? "-.->" : "-->"} ${numbers.get(id)}`,
    ),
  );
  return ["---", `title: ${JSON.stringify(name)}`, "---", "flowchart LR", ...nodes, ...edges];
}

/**
 * All that may mean something to Mermaid, to Markdown or to HTML goes by its number; dots and hyphens too where they would make a
 * list.
 */
function mermaidText(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N} _.,/-]|[.-](?= )/gu, (character) => `#${character.codePointAt(0)};`);
}

import type { DagConfig, DagTaskConfig } from "../../config/model.ts";

/** The forms a graph is drawn in. */
export const graphFormats = ["text", "dot", "mermaid"] as const;
export type GraphFormat = (typeof graphFormats)[number];

/** Draws the graph of a DAG, tasks in the order they may run in. */
export function drawGraph(dag: Pick<DagConfig, "name" | "tasks">, format: GraphFormat): string[] {
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
export function layersOf(tasks: readonly DagTaskConfig[]): DagTaskConfig[][] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const depth = new Map<string, number>();
  const depthOf = (task: DagTaskConfig): number => {
    const known = depth.get(task.id);
    if (known !== undefined) return known;
    const above = task.dependsOn.flatMap((id) => byId.get(id) ?? []).map(depthOf);
    const own = above.length === 0 ? 0 : Math.max(...above) + 1;
    depth.set(task.id, own);
    return own;
  };
  const layers: DagTaskConfig[][] = [];
  for (const task of tasks) {
    const at = depthOf(task);
    layers[at] = [...(layers[at] ?? []), task];
  }
  return layers;
}

function textGraph({ name, tasks }: Pick<DagConfig, "name" | "tasks">): string[] {
  const lines = [shown(name)];
  for (const [step, layer] of layersOf(tasks).entries()) {
    lines.push(`${step + 1}.`);
    for (const task of layer) {
      const after = task.dependsOn.length === 0 ? "" : ` <- ${task.dependsOn.map(shown).join(", ")}`;
      const traits = traitsOf(task);
      lines.push(`   ${shown(task.id)}${after}${traits.length === 0 ? "" : `  [${traits.join(", ")}]`}`);
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
  if (expand !== null) traits.push(`one per item of ${shown(expand.fromTask)}/${shown(expand.key)}`);
  return traits;
}

const dotShapes = { task: "box", sensor: "ellipse", approval: "diamond" } as const;

function dotGraph({ name, tasks }: Pick<DagConfig, "name" | "tasks">): string[] {
  const nodes = tasks.map(
    ({ id, type, expand }) => `  ${dotText(id)} [shape=${dotShapes[type]}${expand === null ? "" : ", peripheries=2"}];`,
  );
  const edges = tasks.flatMap(({ id, dependsOn, triggerRule }) =>
    [...new Set(dependsOn)].map(
      (upstream) => `  ${dotText(upstream)} -> ${dotText(id)}${triggerRule === "all_done" ? " [style=dashed]" : ""};`,
    ),
  );
  return [`digraph ${dotText(name)} {`, "  rankdir=LR;", ...nodes, ...edges, "}"];
}

function dotText(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

const mermaidShapes = { task: ["[", "]"], sensor: ["([", "])"], approval: ["{", "}"] } as const;

/** Mermaid takes plain words as ids, so tasks are numbered and labelled. */
function mermaidGraph({ tasks }: Pick<DagConfig, "name" | "tasks">): string[] {
  const numbers = new Map(tasks.map(({ id }, index) => [id, `t${index}`]));
  const nodes = tasks.map(({ id, type, expand }) => {
    const [open, close] = mermaidShapes[type];
    return `  ${numbers.get(id)}${open}"${mermaidText(expand === null ? id : `${id} × n`)}"${close}`;
  });
  const edges = tasks.flatMap(({ id, dependsOn, triggerRule }) =>
    [...new Set(dependsOn)].map(
      (upstream) => `  ${numbers.get(upstream)} ${triggerRule === "all_done" ? "-.->" : "-->"} ${numbers.get(id)}`,
    ),
  );
  return ["flowchart LR", ...nodes, ...edges];
}

function mermaidText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Ids have no control characters; names of keys may. */
function shown(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}

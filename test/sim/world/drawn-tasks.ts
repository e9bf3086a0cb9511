import type { PoolConfig } from "../../../src/config/model.ts";
import type { Random } from "./random.ts";

/** How many items the source of a fan-out publishes. */
export const ITEMS = 4;

/** `dags:` of a world: tasks of every kind, with edges, rules and retries as they are drawn. */
export function drawnDags(random: Random): { readonly yaml: string; readonly names: readonly [string, ...string[]] } {
  const names = Array.from({ length: random.between(1, 3) }, (_, index) => `dag${index}`);
  const dags = names.map((name) => [`  - name: ${name}`, "    tasks:", ...drawnTasks(random, [])].join("\n"));
  return { yaml: `dags:\n${dags.join("\n")}\n`, names: ["dag0", ...names.slice(1)] };
}

/** The lines of `tasks:`. Without pools no draw is spent on them. */
export function drawnTasks(random: Random, pools: readonly PoolConfig[]): string[] {
  const lines: string[] = [];
  const ids: string[] = [];
  const sources: string[] = [];
  const count = random.between(2, 8);
  for (let index = 0; index < count; index++) {
    const id = `t${index}`;
    const [source] = sources;
    const kind = random.pick(["plain", "plain", "plain", "source", "sensor", "gate", "each"]);
    const upstream = ids.filter(() => random.chance(0.4));
    const fields = [`id: ${id}`];
    if (kind === "each" && source !== undefined) {
      if (!upstream.includes(source)) upstream.push(source);
      fields.push("command: work", `expand: {fromTask: ${source}, key: list}`);
    } else if (kind === "sensor") fields.push("type: sensor", "command: look", "pokeIntervalSeconds: 30");
    else if (kind === "gate") fields.push("type: approval");
    else if (kind === "source") {
      fields.push("command: source");
      sources.push(id);
    } else fields.push("command: work");
    const [pool, ...otherPools] = pools;
    if (pool !== undefined && kind !== "gate" && random.chance(0.4)) {
      const { name, slots } = random.pick([pool, ...otherPools]);
      fields.push(`pool: ${name}`, `poolSlots: ${random.between(1, slots)}`, `queuePriority: ${random.between(0, 2)}`);
    }
    if (kind !== "gate" && kind !== "sensor") fields.push(`retries: ${random.between(0, 2)}`);
    if (upstream.length > 0) {
      fields.push(`dependsOn: [${upstream.join(", ")}]`);
      fields.push(`triggerRule: ${random.pick(["all_success", "all_success", "all_done"])}`);
    }
    lines.push(`      - {${fields.join(", ")}}`);
    ids.push(id);
  }
  return lines;
}

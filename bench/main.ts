/**
 * `npm run bench [-- part …] [-- --json]`: one table of figures, each beside its floor. Without names, every part runs.
 */
import type { BenchRow } from "./row.ts";

const parts: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  starts: async () => (await import("./starts.ts")).startRows(),
  config: async () => (await import("./config.ts")).configRows(),
  schedule: async () => (await import("./schedule.ts")).scheduleRows(),
  http: async () => (await import("./http.ts")).httpRows(),
  store: async () => (await import("./store.ts")).storeRows(),
  report: async () => (await import("./report.ts")).reportRows(),
  resources: async () => (await import("./resources.ts")).resourceRows(),
  jobapi: async () => (await import("./jobapi.ts")).jobApiRows(),
  journal: async () => (await import("./journal.ts")).journalRows(),
  dag: async () => (await import("./dag.ts")).dagRows(),
  daemon: async () => (await import("./daemon.ts")).daemonRows(),
};

const asked = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const names = asked.length === 0 ? Object.keys(parts) : asked;
const rows: (BenchRow & { readonly part: string })[] = [];
for (const name of names) {
  const part = parts[name];
  if (part === undefined) {
    console.error(`there is no part ${name}; the parts are ${Object.keys(parts).join(", ")}`);
    process.exit(2);
  }
  for (const row of await part()) rows.push({ part: name, ...row });
}

if (process.argv.includes("--json")) {
  console.log(JSON.stringify({ at: new Date().toISOString(), node: process.version, rows }, null, 2));
} else {
  const lines = [
    ["part", "figure", "ours", "floor", "unit", "ratio", "target"],
    ...rows.map(({ part, name, ours, floor, unit, ratio, target }) => [
      part,
      name,
      figure(ours),
      floor === null ? "-" : figure(floor),
      unit,
      ratio === null ? "-" : `${ratio.toFixed(2)} x`,
      target ?? "",
    ]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

function figure(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

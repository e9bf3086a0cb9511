// Installs the dependencies when a fresh clone lacks them or the lockfile changed since they were installed.
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Modification time in ms, 0 when there is no such file. */
const changedAt = (path) =>
  statSync(new URL(path, new URL("..", import.meta.url)), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (changedAt("node_modules/.package-lock.json") < changedAt("package-lock.json")) {
  console.error("installing dependencies (npm ci) …");
  execFileSync("npm", ["ci", "--no-fund", "--no-audit", "--ignore-scripts"], { cwd: root, stdio: ["ignore", 2, 2] });
}

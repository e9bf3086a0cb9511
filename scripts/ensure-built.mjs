// Builds dist/ when it is missing or older than a source file.
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import "./ensure-installed.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = ["src", "package.json", "package-lock.json", "tsdown.config.ts", "tsconfig.json"];

/** Newest modification time below a path, in ms. */
function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(`${path}/${name}`)));
}

const built = statSync(`${root}dist/main.js`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (built < Math.max(...sources.map((source) => newest(root + source)))) {
  console.error("building dist/ …");
  execFileSync("npx", ["--no-install", "tsdown", "--logLevel", "warn"], { cwd: root, stdio: ["ignore", 2, 2] });
}

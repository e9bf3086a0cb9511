import { readdirSync } from "node:fs";
import { defineConfig } from "tsdown";

// Worker threads are entries of their own, beside the command line; all else becomes chunks that load when asked for.
const workers = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".worker.ts"))
  .map((path) => [path.replace(/^.*\//, "").replace(/\.ts$/, ""), `src/${path}`]);

export default defineConfig({
  entry: { main: "src/main.ts", ...Object.fromEntries(workers) },
  format: "esm",
  platform: "node",
  target: "node20.19",
  outDir: "dist",
  // One file to read instead of a hundred: loading a configuration takes half the time.
  noExternal: ["zod", "yaml"],
  clean: true,
  dts: false,
  sourcemap: false,
  outExtensions: () => ({ js: ".js" }),
});

import { readdirSync } from "node:fs";
import { defineConfig, type UserConfig } from "tsdown";

// Worker threads are entries of their own, beside the command line; all else becomes chunks that load when asked for.
const workers = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".worker.ts"))
  .map((path) => [path.replace(/^.*\//, "").replace(/\.ts$/, ""), `src/${path}`]);

const common: UserConfig = {
  platform: "node",
  target: "node20.19",
  outDir: "dist",
  clean: true,
  sourcemap: false,
};

export default defineConfig([
  {
    ...common,
    // `job` is what jobs written in JavaScript import as cronstable/job.
    entry: { main: "src/main.ts", job: "src/client/job/job.ts", ...Object.fromEntries(workers) },
    format: "esm",
    // One file to read instead of a hundred: loading a configuration takes half the time.
    noExternal: ["zod", "yaml"],
    dts: { entry: ["src/client/job/job.ts"] },
    outExtensions: () => ({ js: ".js", dts: ".d.ts" }),
  },
  {
    ...common,
    entry: { cronstable: "src/cronstable.ts" },
    format: "cjs",
    dts: false,
    outExtensions: () => ({ js: ".cjs" }),
    plugins: [
      {
        name: "main-is-built-apart",
        resolveId: (id) => (id === "./main.ts" ? { id: "./main.js", external: true } : null),
      },
    ],
  },
]);

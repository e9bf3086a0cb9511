import { defineConfig } from "vitest/config";

// What a job or the command line would read from the environment must come from the test alone.
for (const name of Object.keys(process.env)) if (name.startsWith("CRONSTABLE_")) delete process.env[name];

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Worker threads and child processes that tests start load TypeScript too.
    pool: "forks",
    execArgv: ["--import", new URL("scripts/load-typescript.mjs", import.meta.url).href],
    maxWorkers: 2,
    // CI machines are shared: what a neighbour's load broke once passes the second time, what we broke does not.
    retry: process.env.CI === undefined ? 0 : 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});

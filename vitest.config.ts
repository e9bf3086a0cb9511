import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Worker threads and child processes that tests start load TypeScript too.
    pool: "forks",
    execArgv: ["--import", "./scripts/typescript-in-threads.mjs"],
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});

import { expect, test } from "vitest";
import { baseEnvironment, environmentFacts, runEnvironment } from "../../src/execution/environment.ts";

test("HOSTNAME is added where the daemon has none, and kept where it has", () => {
  expect(baseEnvironment({ PATH: "/bin", GONE: undefined }, "box")).toEqual({ PATH: "/bin", HOSTNAME: "box" });
  expect(baseEnvironment({ HOSTNAME: "own" }, "box")).toEqual({ HOSTNAME: "own" });
});

test("the daemon's variables < the job's < the injected ones", () => {
  const base = { A: "daemon", B: "daemon", C: "daemon" };
  const configured = [
    ["B", "job"],
    ["C", "job"],
    ["CRONSTABLE_JOB_NAME", "a lie"],
  ] as const;
  const environment = runEnvironment(base, configured, { C: "injected", CRONSTABLE_JOB_NAME: "backup" });
  expect(environmentFacts(environment)).toEqual({
    A: "daemon",
    B: "job",
    C: "injected",
    CRONSTABLE_JOB_NAME: "backup",
  });
});

test("the daemon's part is one object for all runs, so that it is encoded once", () => {
  const base = { A: "daemon" };
  expect(runEnvironment(base, [["B", "1"]], {}).base).toBe(base);
});

test("templates see null where nothing is added", () => {
  expect(environmentFacts(runEnvironment({ A: "daemon" }, [], {}))).toBeNull();
  expect(environmentFacts(runEnvironment({ A: "daemon" }, [["A", "daemon"]], {}))).toEqual({ A: "daemon" });
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { plan } from "../../src/dag/plan.ts";
import { freshRun } from "../../src/dag/run-document.ts";
import { configOf } from "../config/loading.ts";
import { HOST, IDENTITY, OWN, START } from "./run-on-paper.ts";

const config = configOf(readFileSync(new URL("../../examples/workflow.yaml", import.meta.url), "utf8"));

test("D-CFG-17: the shipped example loads, without a warning, and has a task of every kind", () => {
  expect(config.warnings).toEqual([]);
  const tasks = config.dags.flatMap((dag) => dag.tasks);
  expect(new Set(tasks.map(({ type }) => type))).toEqual(new Set(["task", "sensor", "approval"]));
  expect(tasks.some(({ expand }) => expand !== null)).toBe(true);
  expect(tasks.some(({ retries }) => retries > 0)).toBe(true);
  expect(tasks.some(({ type, onReject }) => type === "approval" && onReject === "skip")).toBe(true);
  expect(config.dags.some(({ timing }) => timing === null)).toBe(true);
});

test("a run of it begins with its sensor", () => {
  const [dag] = config.dags;
  if (dag === undefined) throw new Error("no dag");
  const facts = {
    proc: OWN,
    host: HOST,
    handedOut: new Set<string>(),
    alive: new Map<string, boolean>(),
    admitted: new Set<string>(),
    claimsLeft: 32,
  };
  expect(plan(freshRun(dag, IDENTITY, START), dag, facts, START).claims).toMatchObject([
    { taskKey: "wait-for-orders", poke: 0 },
  ]);
});

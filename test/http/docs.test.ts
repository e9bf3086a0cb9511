import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { families } from "../../src/metrics/families.ts";
import { describedRoutes } from "./served.ts";

const docs = join(import.meta.dirname, "../../docs");

/** First cells of a page's tables, when they are code. */
function listed(page: string): string[] {
  return [...readFileSync(join(docs, page), "utf8").matchAll(/^\| `([^`]+)` +\|/gm)].map(([, cell = ""]) => cell);
}

test("docs/http-api.md has every route, and none that is not there", () => {
  const written = listed("http-api.md").filter((cell) => cell.includes("/"));
  expect(written.sort()).toEqual(
    describedRoutes()
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  );
});

test("docs/metrics.md has every family, its type, and none that is not there", () => {
  expect(listed("metrics.md")).toEqual(Object.values(families).map(({ name }) => name));
  const page = readFileSync(join(docs, "metrics.md"), "utf8");
  for (const { name, type } of Object.values(families))
    expect(page).toMatch(new RegExp(`\\| \`${name}\` +\\| ${type} +\\|`));
});

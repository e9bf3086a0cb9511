import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configAt } from "../config/loading.ts";

const folder = join(import.meta.dirname, "../../examples/dag");

test.each(readdirSync(folder))("examples/dag/%s loads without a warning", (name) => {
  const config = configAt(join(folder, name));
  expect(config.dags).toHaveLength(1);
  expect(config.warnings).toEqual([]);
});

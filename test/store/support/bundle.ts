import { renameSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";

const root = join(import.meta.dirname, "../../..");

/**
 * Compiles a program of the tests, or a worker of the store, into one file that starts as fast as a build does. Tests that start
 * many need that; that the sources start as they are is proven in `open.test.ts`.
 *
 * @param source relative to the project
 */
export function bundled(source: string): URL {
  const known = built.get(source);
  if (known !== undefined) return known;
  const file = join(root, "node_modules/.cache/cronstable-tests", `${source.replaceAll(/[^a-z0-9]+/g, "-")}.mjs`);
  const outfile = `${file}.${process.pid}`;
  buildSync({
    entryPoints: [join(root, source)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
  renameSync(outfile, file);
  const url = pathToFileURL(file);
  built.set(source, url);
  return url;
}

const built = new Map<string, URL>();

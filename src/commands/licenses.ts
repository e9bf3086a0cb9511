import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The notices of every package the program runs with, its own dependencies first, each once. */
export function thirdPartyLicenses(): string {
  const own = nearestManifest(import.meta.dirname);
  const seen = new Set<string>();
  const notices: string[] = [];
  const visit = (folder: string): void => {
    const { dependencies = {} } = readManifest(folder);
    for (const name of Object.keys(dependencies)) {
      const found = folderOf(name, folder);
      if (found === null || seen.has(found)) continue;
      seen.add(found);
      const { version, license } = readManifest(found);
      notices.push(`${name} ${version ?? ""} (${license ?? "license not stated"})\n\n${licenseText(found)}`);
      visit(found);
    }
  };
  visit(own);
  return `${notices.join(`\n${"-".repeat(72)}\n`)}\n`;
}

function nearestManifest(from: string): string {
  return existsSync(join(from, "package.json")) ? from : nearestManifest(dirname(from));
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** The folder a package is installed in as seen from another one; null for an optional one that is not installed. */
function folderOf(name: string, from: string): string | null {
  const paths = createRequire(join(from, "package.json")).resolve.paths(name) ?? [];
  const installed = paths.map((path) => join(path, name)).find((path) => existsSync(join(path, "package.json")));
  return installed ?? null;
}

function licenseText(folder: string): string {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  return file === undefined ? "(the package carries no license file)" : readFileSync(join(folder, file), "utf8").trim();
}

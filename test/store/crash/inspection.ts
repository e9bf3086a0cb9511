import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { tryLock } from "../../../src/platform/flock.ts";
import { encodeName } from "../../../src/store/filesystem/names.ts";
import { type Acknowledgement, COUNTERS, LEASES } from "./writer.ts";

/** What must hold for ever after, gathered round by round. */
export interface Knowledge {
  readonly base: string;
  /** Increments that were acknowledged, per counter. */
  readonly counted: Map<string, number>;
  /** Greatest acknowledged fence, per lease. */
  readonly fences: Map<string, number>;
  /** Processes killed so far: each may have done one increment more than it said. */
  kills: number;
}

export function newKnowledge(path: string): Knowledge {
  return { base: join(path, "default"), counted: new Map(), fences: new Map(), kills: 0 };
}

/** Looks at the store by its files, as nobody writes, and says what is not as it should be. */
export function inspectAfterKills(
  known: Knowledge,
  round: number,
  killed: number,
  lines: readonly Acknowledgement[],
): string[] {
  const { base } = known;
  const problems: string[] = [];
  known.kills += killed;

  for (const stream of [`runs/round ${round}`, "runs/pruned", `artifacts/round ${round}`])
    problems.push(...wholeRecords(join(base, "records", encodeName(stream))));
  if (entries(join(base, "quarantine")).length > 0) problems.push("something was quarantined");
  problems.push(...lostRecords(base, lines));
  problems.push(...countersAreRight(known, lines));
  problems.push(...fencesNeverGoBack(known, lines));
  problems.push(...blobsAreWhole(base, lines));
  problems.push(...locksAreFree(join(base, "leases")), ...locksAreFree(join(base, "docs", encodeName("kv/counters"))));

  const left = entries(join(base, "tmp"));
  if (left.length > killed) problems.push(`${left.length} temporary files for ${killed} kills`);
  for (const name of left) rmSync(join(base, "tmp", name));
  rmSync(join(base, "blobs"), { recursive: true, force: true });
  return problems;
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // nobody has written there yet
  }
}

function parsed(path: string): { readonly data: Record<string, unknown>; readonly schemaVersion: string } | null {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

function wholeRecords(directory: string): string[] {
  return entries(directory)
    .filter((name) => parsed(join(directory, name))?.schemaVersion !== "v1")
    .map((name) => `partial record ${name}`);
}

/** Every acknowledged record is there with its text; of pruned and published ones, the newest. */
function lostRecords(base: string, lines: readonly Acknowledgement[]): string[] {
  const must = new Map<string, { readonly path: string; readonly text: string; readonly id: string }>();
  for (const line of lines) {
    if (line.did !== "append" && line.did !== "publish") continue;
    const path = join(base, "records", encodeName(line.stream), `${line.id}.json`);
    const scope = line.did === "publish" ? line.key : line.stream === "runs/pruned" ? line.stream : line.id;
    const before = must.get(scope);
    if (before === undefined || before.id < line.id) must.set(scope, { path, text: line.text, id: line.id });
  }
  return [...must.values()]
    .filter(({ path, text }) => contentOf(path) !== text)
    .map(({ path }) => `lost acknowledged record ${path}`);
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function countersAreRight(known: Knowledge, lines: readonly Acknowledgement[]): string[] {
  return COUNTERS.flatMap((key) => {
    const acknowledged =
      (known.counted.get(key) ?? 0) + lines.filter((line) => line.did === "count" && line.key === key).length;
    known.counted.set(key, acknowledged);
    const path = join(known.base, "docs", encodeName("kv/counters"), `${encodeName(key)}.doc`);
    const found = Number(parsed(path)?.data.n ?? 0);
    const isRight = found >= acknowledged && found <= acknowledged + known.kills;
    return isRight ? [] : [`counter ${key} stands at ${found} after ${acknowledged} acknowledged increments`];
  });
}

function fencesNeverGoBack(known: Knowledge, lines: readonly Acknowledgement[]): string[] {
  const problems: string[] = [];
  const holders = new Map<string, string>();
  for (const line of lines) {
    if (line.did !== "hold") continue;
    known.fences.set(line.name, Math.max(known.fences.get(line.name) ?? 0, line.fence));
    const fence = `${line.name} ${line.fence}`;
    const holder = holders.get(fence) ?? line.holder;
    if (holder !== line.holder) problems.push(`fence ${fence} was given to two holders`);
    holders.set(fence, holder);
  }
  for (const name of LEASES) {
    const text = contentOf(join(known.base, "leases", `${encodeName(name)}.lease`));
    const greatest = known.fences.get(name) ?? 0;
    const fence = text === null ? 0 : Number(JSON.parse(text).fence);
    if (fence < greatest) problems.push(`lease ${name} went back from fence ${greatest} to ${fence}`);
    known.fences.set(name, Math.max(greatest, fence));
  }
  return problems;
}

function blobsAreWhole(base: string, lines: readonly Acknowledgement[]): string[] {
  const found = new Set<string>();
  const problems: string[] = [];
  for (const shard of entries(join(base, "blobs")))
    for (const name of entries(join(base, "blobs", shard))) {
      const sha256 = createHash("sha256")
        .update(readFileSync(join(base, "blobs", shard, name)))
        .digest("hex");
      if (name !== `${sha256}.blob`) problems.push(`partial blob ${name}`);
      found.add(sha256);
    }
  const lost = lines.filter((line) => line.did === "blob" && !found.has(line.sha256));
  return [...problems, ...lost.map(() => "lost acknowledged blob")];
}

function locksAreFree(directory: string): string[] {
  return entries(directory)
    .filter((name) => name.endsWith(".lock"))
    .flatMap((name) => {
      const path = join(directory, name);
      const fd = openSync(path, "r+");
      try {
        if (!tryLock(fd)) return [`lock ${name} stayed`];
        return statSync(path).size <= 1 ? [] : [`lock ${name} grew`];
      } finally {
        closeSync(fd);
      }
    });
}

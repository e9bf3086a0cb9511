import { expect, test } from "vitest";
import type { Engine } from "../../../src/store/engine.ts";
import { engineOn, freshDisk } from "../support/probed-operations.ts";
import type { VolatileDisk } from "../support/volatile-disk.ts";

const text = (n: number): string => `{"data":{"n":${n}},"schemaVersion":"v1"}`;

function numbers(engine: Engine, stream: string): number[] {
  const rows = engine.listRecords({ stream, newestFirst: false, limit: 1000, reading: "strict" });
  return rows.map((row) => JSON.parse(row.text).data.n);
}

const write = (disk: VolatileDisk, path: string, content: string): void => {
  const fd = disk.openOrCreate(path, 0o600);
  disk.write(fd, Buffer.from(content));
  disk.close(fd);
};

test("a prune comes with the first append of a process and then with every 8th (PRU-1)", () => {
  const disk = freshDisk();
  const engine = engineOn(disk);
  const held: number[] = [];
  for (let n = 1; n <= 30; n++) {
    engine.append({ stream: "runs/a", text: text(n), keep: 3 });
    held.push(numbers(engine, "runs/a").length);
  }
  expect(held.slice(0, 20)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 3, 4, 5, 6, 7, 8, 9, 10, 3, 4, 5, 6]);
  engineOn(disk).append({ stream: "runs/a", text: text(31), keep: 3 });
  expect(numbers(engine, "runs/a")).toEqual([29, 30, 31]);
});

test("a writer whose clock is behind writes above what was there before it began (NAM-2)", () => {
  const disk = freshDisk();
  engineOn(disk, { now: 5_000_000_000_000 }).append({ stream: "runs/a", text: text(1), keep: null });
  const behind = engineOn(disk, { now: 1_000_000_000_000 });
  for (const n of [2, 3]) behind.append({ stream: "runs/a", text: text(n), keep: null });
  expect(numbers(behind, "runs/a")).toEqual([1, 2, 3]);
});

test("foreign records sort by their names, are read, and count for the prune and the watermark (NAM-1)", () => {
  const disk = freshDisk();
  const engine = engineOn(disk);
  for (const n of [1, 2]) engine.append({ stream: "runs/a", text: text(n), keep: null });
  write(disk, "/store/default/records/runs%2Fa/zzz.json", text(9));
  write(disk, "/store/default/records/runs%2Fa/notes.txt", "no record");
  engine.append({ stream: "runs/a", text: text(3), keep: null });
  expect(numbers(engine, "runs/a")).toEqual([1, 2, 3, 9]);
  expect(engine.maxOfField({ stream: "runs/a", field: "n" })).toBe("9");
  expect(engine.prune({ stream: "runs/a", keep: 2 })).toBe(2);
  expect(numbers(engine, "runs/a")).toEqual([3, 9]);
  expect([...disk.files().keys()].some((path) => path.endsWith("notes.txt"))).toBe(true);
});

test("a watermark reads what is new and no more (DRV-2)", () => {
  const disk = freshDisk();
  const engine = engineOn(disk);
  for (let n = 1; n <= 50; n++) engine.append({ stream: "runs/a", text: text(n % 40), keep: null });
  const reads = (): number => {
    disk.trace.length = 0;
    expect(engine.maxOfField({ stream: "runs/a", field: "n" })).toBe("39");
    return disk.trace.filter((line) => line.startsWith("read")).length;
  };
  expect(reads()).toBe(50);
  expect(reads()).toBe(0);
  engineOn(disk, { now: 3_000_000_000_000 }).append({ stream: "runs/a", text: text(1), keep: null });
  expect(reads()).toBe(1);
  engine.prune({ stream: "runs/a", keep: 20 });
  expect(reads()).toBe(0);
});

test("a stream whose name had to be cut tells it in a file, repaired by the next append (ENC-4)", () => {
  const disk = freshDisk();
  const engine = engineOn(disk);
  const stream = `runs/${"Long job name ".repeat(20)}`;
  const named = (): unknown => engine.streamNames({ prefix: "runs/" });
  engine.append({ stream, text: text(1), keep: null });
  expect(named()).toEqual({ names: [stream], complete: true });
  const path = [...disk.files().keys()].find((file) => file.endsWith("/stream-name.txt")) ?? "";
  expect(disk.files().get(path)?.toString()).toBe(stream);
  for (const damage of ["", "another name", `${stream} and more`]) {
    disk.unlink(path);
    write(disk, path, damage);
    expect(named()).toEqual({ names: [], complete: false });
    engine.append({ stream, text: text(2), keep: null });
    expect(named()).toEqual({ names: [stream], complete: true });
  }
  expect(numbers(engine, stream)).toEqual([1, 2, 2, 2]);
});

test("a collection that removes the stream between two appends does not fail the second", () => {
  const disk = freshDisk();
  const engine = engineOn(disk);
  engine.append({ stream: "runs/a", text: text(1), keep: 5 });
  engineOn(disk).collectStream({ stream: "runs/a", beforeSeconds: 1e12, dryRun: false });
  engine.append({ stream: "runs/a", text: text(2), keep: 5 });
  expect(numbers(engine, "runs/a")).toEqual([2]);
});

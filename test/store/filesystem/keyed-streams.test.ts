import { describe, expect, test } from "vitest";
import { type Engine, StoreFault } from "../../../src/store/engine.ts";
import { type Disk, diskError } from "../../../src/store/filesystem/disk.ts";
import { engineOn, freshDisk } from "../support/probed-operations.ts";
import type { VolatileDisk } from "../support/volatile-disk.ts";

const directory = "/store/default/records/artifacts%2Fx";
const stream = "artifacts/x";
const text = (name: string, v: number): string => `{"data":{"name":"${name}","v":${v}},"schemaVersion":"v1"}`;

const publish = (engine: Engine, name: string, v: number): string =>
  engine.publish({ stream, field: "name", key: name, text: text(name, v) }).id;

const newest = (engine: Engine, key: string | null, reading: "strict" | "tolerant" = "strict"): string[] =>
  engine.newestByKey({ stream, field: "name", key, reading }).rows.map((row) => {
    const { data } = JSON.parse(row.text);
    return `${data.name}=${data.v}`;
  });

const held = (disk: VolatileDisk): string[] =>
  [...disk.files()]
    .filter(([path]) => path.startsWith(directory))
    .map(([, bytes]) => JSON.parse(bytes.toString()).data.v);

describe("publishing", () => {
  test("holds two versions of a name, so that a listing that overlaps one publication finds one (ART-3)", () => {
    const disk = freshDisk();
    const engine = engineOn(disk);
    for (let v = 1; v <= 30; v++) {
      publish(engine, "report", v);
      expect(held(disk)).toEqual(v === 1 ? [1] : [v - 1, v]);
    }
  });

  test("removes nothing when the replaced version is not there any more", () => {
    const disk = freshDisk();
    const engine = engineOn(disk);
    const ids = [1, 2].map((v) => publish(engine, "report", v));
    disk.unlink(`${directory}/${ids[1]}.json`);
    publish(engine, "report", 3);
    expect(held(disk)).toEqual([1, 3]);
  });

  test("cleans up what others left after as many publications as records stayed, at least 8", () => {
    const disk = freshDisk();
    for (let v = 1; v <= 5; v++) publish(engineOn(disk), "report", v);
    const engine = engineOn(disk);
    for (let v = 6; v <= 12; v++) publish(engine, "report", v);
    expect(held(disk)).toEqual([1, 2, 3, 4, 5, 11, 12]);
    publish(engine, "report", 13);
    expect(held(disk)).toEqual([12, 13]);
  });

  test("leaves records that cannot be understood, and those without a key", () => {
    const disk = freshDisk();
    const engine = engineOn(disk);
    engine.append({ stream, text: '{"data":{"other":1,"v":0},"schemaVersion":"v1"}', keep: null });
    engine.append({ stream, text: '{"data":{"name":"report","v":-1},"schemaVersion":"v99"}', keep: null });
    for (let v = 1; v <= 20; v++) publish(engine, "report", v);
    expect(held(disk)).toEqual([0, -1, 19, 20]);
  });

  test("names a version above every record it has seen, though its clock is behind (ART-6)", () => {
    const disk = freshDisk();
    const peer = engineOn(disk, { now: 9_000_000_000_000 });
    const slow = engineOn(disk, { now: 1_000_000_000_000 });
    publish(slow, "report", 1);
    publish(peer, "report", 2);
    const { highestId } = slow.newestByKey({ stream, field: "name", key: "report", reading: "strict" });
    if (highestId !== null) slow.learn({ kind: "seen", stream, id: highestId });
    publish(slow, "report", 3);
    expect(newest(peer, "report")).toEqual(["report=3"]);
  });
});

describe("reading while others publish (ART-4)", () => {
  /** A disk on which `onList` happens after each listing of the stream, as if a peer had been at work in between. */
  function busy(disk: VolatileDisk, onList: () => void): Disk {
    return {
      ...disk,
      list(path) {
        const names = disk.list(path);
        if (path === directory) onList();
        return names;
      },
    };
  }

  const replaceAll = (disk: VolatileDisk, v: number): void => {
    for (const name of disk.list(directory)) disk.unlink(`${directory}/${name}`);
    publish(engineOn(disk), "report", v);
  };

  test("a listed record that has gone means a newer one: it is looked for again", () => {
    const disk = freshDisk();
    publish(engineOn(disk), "report", 1);
    let rounds = 0;
    const reader = engineOn(busy(disk, () => ++rounds <= 3 && replaceAll(disk, 1 + rounds)));
    expect(newest(reader, "report")).toEqual(["report=4"]);
    expect(rounds).toBe(4);
  });

  test("records that keep leaving make a strict read fail, and a tolerant one answers with what it has (D-MAP-9)", () => {
    const disk = freshDisk();
    publish(engineOn(disk), "other", 1);
    publish(engineOn(disk), "report", 1);
    let v = 1;
    const leave = (): void => {
      const last = disk.list(directory).at(-1);
      disk.unlink(`${directory}/${last}`);
      publish(engineOn(disk), "report", ++v);
    };
    const failing = () => newest(engineOn(busy(disk, leave)), null);
    expect(failing).toThrow(StoreFault);
    expect(failing).toThrow("stream 'artifacts/x': records kept leaving during the read");
    expect(newest(engineOn(busy(disk, leave)), null, "tolerant")).toEqual(["other=1"]);
  });

  test("a stale handle whose file has gone is a record that left; one whose file is there is an error", () => {
    const disk = freshDisk();
    publish(engineOn(disk), "report", 1);
    const stale = (gone: boolean): Disk => {
      let times = 0;
      return {
        ...disk,
        readFile(path, max) {
          if (path.startsWith(directory) && ++times === 1) {
            if (gone) replaceAll(disk, 2);
            throw diskError("ESTALE", path);
          }
          return disk.readFile(path, max);
        },
      };
    };
    expect(() => newest(engineOn(stale(false)), "report")).toThrow("ESTALE");
    expect(newest(engineOn(stale(true)), "report")).toEqual(["report=2"]);
  });

  test("a listing that lacks what this process has published is not believed (ART-5)", () => {
    const disk = freshDisk();
    publish(engineOn(disk), "report", 1);
    let cached: readonly string[] | null = null;
    const mount: Disk = {
      ...disk,
      list: (path) => (path === directory ? (cached ?? disk.list(path)) : disk.list(path)),
    };
    const engine = engineOn(mount);
    cached = disk.list(directory);
    const id = publish(engine, "report", 2);
    expect(newest(engine, "report")).toEqual(["report=2"]);
    const peer = engineOn(mount);
    expect(newest(peer, "report")).toEqual(["report=1"]);
    peer.learn({ kind: "published", stream, key: "report", id });
    expect(newest(peer, "report")).toEqual(["report=2"]);
    cached = null;
    replaceAll(disk, 3);
    expect(newest(engine, "report")).toEqual(["report=3"]);
  });

  test("every name is read once and then known, and a peer's publication is seen at once", () => {
    const disk = freshDisk();
    const peer = engineOn(disk);
    for (let n = 0; n < 20; n++) publish(peer, `name ${n}`, n);
    const reader = engineOn(disk);
    expect(newest(reader, null)).toHaveLength(20);
    disk.trace.length = 0;
    expect(newest(reader, "name 7")).toEqual(["name 7=7"]);
    expect(disk.trace.filter((line) => line.startsWith("read"))).toHaveLength(1);
    publish(peer, "name 7", 70);
    expect(newest(reader, "name 7")).toEqual(["name 7=70"]);
  });

  test("names too long to remember are read each time and found all the same", () => {
    const disk = freshDisk();
    const engine = engineOn(disk);
    const long = "x".repeat(300);
    for (const v of [1, 2, 3]) publish(engine, long, v);
    publish(engine, "short", 1);
    expect(newest(engine, long)).toEqual([`${long}=3`]);
    expect(newest(engineOn(disk), null)).toEqual(["short=1", `${long}=3`]);
  });
});

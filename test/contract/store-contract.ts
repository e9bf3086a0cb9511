import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JsonFloat, type JsonObject } from "../../src/store/json.ts";
import type { Change, Lease, Store } from "../../src/store/store.ts";
import { done, failure } from "../store/support/outcome.ts";

/** Two nodes on one store. */
export interface StorePair {
  readonly a: Store;
  readonly b: Store;
  /** Lets wall time pass, at least this much. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

const newestFirst = { order: "newest first", limit: 100, reading: "tolerant" } as const;
const oldestFirst = { order: "oldest first", limit: 100, reading: "strict" } as const;
const future = Date.now() / 1000 + 1e6;

/** What every implementation of `Store` promises. */
export function storeContract(name: string, open: () => Promise<StorePair>): void {
  describe(`the store ${name}`, () => {
    let pair: StorePair;
    let a: Store;
    let b: Store;
    beforeAll(async () => {
      pair = await open();
      ({ a, b } = pair);
    });
    afterAll(() => pair.close());

    const numbers = async (store: Store, stream: string): Promise<unknown[]> =>
      (await done(store.records.list(stream, oldestFirst))).map(({ data }) => data.n);

    describe("records", () => {
      test("are read back as they were written, newest or oldest first, at most as many as asked for", async () => {
        const written: JsonObject[] = [
          { n: 1, text: "naïve 😀" },
          { n: 2, float: new JsonFloat(1), big: 18446744073709551615n, nested: [{ x: null }, true] },
          { n: 3 },
        ];
        for (const data of written) await done(a.records.append("runs/read back", data));
        const oldest = await done(a.records.list("runs/read back", oldestFirst));
        expect(oldest.map(({ data }) => data)).toEqual(written);
        const newest = await done(b.records.list("runs/read back", { ...newestFirst, limit: 2 }));
        expect(newest).toEqual(oldest.toReversed().slice(0, 2));
      });

      test("of a stream nobody wrote are none", async () => {
        expect(await done(a.records.list("runs/never", newestFirst))).toEqual([]);
        expect(await done(a.records.max("runs/never", "at"))).toBeNull();
        expect(await done(a.records.prune("runs/never", 3))).toBe(0);
      });

      test("land in the order of the calls, each after all the store has seen", async () => {
        await Promise.all(Array.from({ length: 50 }, (_, n) => a.records.append("runs/order", { n })));
        for (let n = 50; n < 60; n++) await done((n % 2 ? a : b).records.append("runs/order", { n }));
        expect(await numbers(b, "runs/order")).toEqual(Array.from({ length: 60 }, (_, n) => n));
        const ids = (await done(a.records.list("runs/order", oldestFirst))).map(({ id }) => id);
        expect(ids).toEqual([...new Set(ids)].sort());
      });

      test("carry when they were written", async () => {
        await done(a.records.append("runs/when", {}));
        const [record] = await done(a.records.list("runs/when", newestFirst));
        expect(record?.id.startsWith(String(Math.floor(record.writtenAtSeconds)).padStart(13, "0"))).toBe(true);
      });

      test("are pruned to about as many newest as are to be kept (PRU-1)", async () => {
        for (let n = 1; n <= 40; n++) {
          await done(a.records.append("runs/kept", { n }, { keep: 5 }));
          const held = await numbers(a, "runs/kept");
          expect(held.length).toBeLessThanOrEqual(12);
          expect(held.slice(-5)).toEqual([n - 4, n - 3, n - 2, n - 1, n].filter((kept) => kept > 0));
        }
      });

      test("can be pruned to a number and to nothing (PRU-2)", async () => {
        for (let n = 1; n <= 5; n++) await done(a.records.append("runs/pruned", { n }));
        expect(await done(a.records.prune("runs/pruned", 2))).toBe(3);
        expect(await numbers(b, "runs/pruned")).toEqual([4, 5]);
        expect(await done(a.records.prune("runs/pruned", 0))).toBe(2);
        expect(await numbers(a, "runs/pruned")).toEqual([]);
        await done(a.records.append("runs/pruned", { n: 9 }));
        expect(await numbers(b, "runs/pruned")).toEqual([9]);
      });

      test("that other implementations could not read are refused", async () => {
        expect(await failure(a.records.append("runs/refused", { n: Number.NaN }), "not portable")).toBe(
          "NaN is not a finite number",
        );
        expect(await numbers(a, "runs/refused")).toEqual([]);
      });

      test("have a greatest value per field, whoever wrote it and in whatever order (DRV-1)", async () => {
        const at = (text: string) =>
          done((text < "b" ? a : b).records.append("runs/max", { at: text, n: text.length }));
        for (const text of ["b", "aaa", "c", "a", "bb"]) await at(text);
        expect(await done(a.records.max("runs/max", "at"))).toBe("c");
        expect(await done(a.records.max("runs/max", "n"))).toBe(3);
        await done(b.records.append("runs/max", { other: 1 }));
        await at("cc");
        expect(await done(a.records.max("runs/max", "at"))).toBe("cc");
        expect(await done(a.records.max("runs/max", "nowhere"))).toBeNull();
        await done(a.records.prune("runs/max", 0));
        expect(await done(a.records.max("runs/max", "at"))).toBeNull();
        await at("a");
        expect(await done(a.records.max("runs/max", "at"))).toBe("a");
      });

      test("of values that do not compare, the first found stays the greatest", async () => {
        for (const value of ["x", 7, "y", null]) await done(a.records.append("runs/mixed", { value }));
        expect(await done(b.records.max("runs/mixed", "value"))).toBe("y");
      });

      test("are found by the names of their streams, also unusual ones", async () => {
        const names = ["find/A", "find/a", "find/con", "find/😀", `find/${"é".repeat(80)}`, "find/a b%2F"];
        for (const stream of names) await done(a.records.append(stream, {}));
        const found = await done(b.records.streams("find/"));
        expect(found).toEqual({ names: [...names].sort(byCodePoint), complete: true });
        expect((await done(a.records.streams("find/a"))).names).toEqual(["find/a", "find/a b%2F"]);
      });
    });

    describe("published versions", () => {
      const versions = async (store: Store, key?: string) =>
        (await done(store.records.newestByKey("artifacts/s", "name", { reading: "strict", ...(key && { key }) }))).map(
          ({ data }) => `${data.name}=${data.v}`,
        );

      test("supersede each other by key; the newest is found, the one before it stays, the rest goes (ART-3)", async () => {
        for (let v = 1; v <= 12; v++) await done(a.records.publish("artifacts/s", "name", { name: "report", v }));
        await done(b.records.publish("artifacts/s", "name", { name: "other", v: 1 }));
        expect(await versions(b, "report")).toEqual(["report=12"]);
        expect(await versions(a)).toEqual(["other=1", "report=12"]);
        expect(await versions(a, "nothing")).toEqual([]);
        const held = await done(a.records.list("artifacts/s", oldestFirst));
        expect(held.filter(({ data }) => data.name === "report").map(({ data }) => data.v)).toEqual([11, 12]);
      });

      test("of two nodes are seen by both at once", async () => {
        for (let v = 20; v < 30; v++) {
          await done((v % 2 ? a : b).records.publish("artifacts/s", "name", { name: "shared", v }));
          expect(await versions(a, "shared")).toEqual([`shared=${v}`]);
          expect(await versions(b, "shared")).toEqual([`shared=${v}`]);
        }
      });

      test("need a text as their key", async () => {
        await failure(a.records.publish("artifacts/s", "name", { name: 1 }), "not portable");
      });
    });

    describe("documents", () => {
      test("are created, replaced and deleted only by who knows what they are", async () => {
        const { documents } = a;
        expect(await done(documents.read("kv/x", "k"))).toEqual({ body: null, version: null });
        const created = await done(documents.swap("kv/x", "k", null, { v: 1 }));
        expect(created.kind).toBe("swapped");
        const state = await done(b.documents.read("kv/x", "k"));
        expect(state.body).toEqual({ v: 1 });
        expect(created).toEqual({ kind: "swapped", version: state.version });

        expect(await done(documents.swap("kv/x", "k", null, { v: 2 }))).toEqual({ kind: "conflict", current: state });
        const replaced = await done(b.documents.swap("kv/x", "k", state.version, { v: 2 }));
        expect(await done(documents.swap("kv/x", "k", state.version, null))).toMatchObject({ kind: "conflict" });
        expect(await done(documents.peek("kv/x", "k"))).toEqual({ v: 2 });

        const version = replaced.kind === "swapped" ? replaced.version : null;
        expect(await done(documents.swap("kv/x", "k", version, null))).toEqual({ kind: "swapped", version: null });
        expect(await done(b.documents.peek("kv/x", "k"))).toBeNull();
      });

      test("keep every number exactly through a change of something else (FMT-4, FMT-7)", async () => {
        const value = { big: 9007199254740993n, f: new JsonFloat(1), e: new JsonFloat(1e16), s: "é" };
        await done(a.documents.swap("kv/x", "exact", null, { value, unknown: { x: 1 } }));
        await done(
          b.documents.mutate("kv/x", "exact", (body) => ({ kind: "put", body: { ...body, seen: true }, answer: null })),
        );
        expect(await done(a.documents.peek("kv/x", "exact"))).toEqual({ value, unknown: { x: 1 }, seen: true });
      });

      test("lose no change of two nodes that change them at once (CUR-1)", async () => {
        const increment = (body: JsonObject | null): Change<number> => {
          const n = (typeof body?.n === "number" ? body.n : 0) + 1;
          return { kind: "put", body: { n }, answer: n };
        };
        const answers = await Promise.all(
          Array.from({ length: 100 }, (_, i) => done((i % 2 ? a : b).documents.mutate("kv/x", "count", increment))),
        );
        expect(answers.sort((x, y) => x - y)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
        expect(await done(a.documents.peek("kv/x", "count"))).toEqual({ n: 100 });
      });

      test("let one claimant of a key win", async () => {
        const claim =
          (by: string) =>
          (body: JsonObject | null): Change<boolean> =>
            body === null ? { kind: "put", body: { by }, answer: true } : { kind: "keep", answer: false };
        for (let key = 0; key < 20; key++) {
          const wins = await Promise.all([
            done(a.documents.mutate("idem/x", `${key}`, claim("a"))),
            done(b.documents.mutate("idem/x", `${key}`, claim("b"))),
          ]);
          expect(wins.filter(Boolean)).toHaveLength(1);
        }
      });

      test("can be left alone or deleted by a change", async () => {
        await done(a.documents.swap("kv/x", "left", null, { v: 1 }));
        expect(await done(a.documents.mutate("kv/x", "left", (body) => ({ kind: "keep", answer: body })))).toEqual({
          v: 1,
        });
        expect(await done(a.documents.mutate("kv/x", "left", () => ({ kind: "delete", answer: "gone" })))).toBe("gone");
        expect(await done(a.documents.mutate("kv/x", "left", () => ({ kind: "delete", answer: "still" })))).toBe(
          "still",
        );
        expect(await done(b.documents.peek("kv/x", "left"))).toBeNull();
      });

      test("that are remembered begin with what was written last, and end with what is there", async () => {
        const remember = { remember: true };
        const seen: unknown[] = [];
        const next = (body: JsonObject | null): Change<number> => {
          const v = Number(body?.v ?? 0) + 1;
          seen.push(body?.v ?? null);
          return { kind: "put", body: { v }, answer: v };
        };
        const look = (body: JsonObject | null): Change<unknown> => ({ kind: "keep", answer: body?.v ?? null });
        const change = (of: Store, decide = next) => done(of.documents.mutate("dagrun/x", "one", decide, remember));
        expect([await change(a), await change(a), await change(b), await change(a)]).toEqual([1, 2, 3, 4]);
        expect(seen).toEqual([null, 1, 2, 2, 3]); // the fourth began with the 2 it had written, and was told of the 3
        await done(b.documents.mutate("dagrun/x", "one", next));
        expect(await done(a.documents.mutate("dagrun/x", "one", look, remember))).toBe(5);
        expect(await change(a)).toBe(6);
        await done(b.documents.mutate("dagrun/x", "one", () => ({ kind: "delete", answer: null })));
        expect(await done(a.documents.mutate("dagrun/x", "one", look, remember))).toBeNull();
        expect(await change(a)).toBe(1);
      });

      test("that other implementations could not read are refused, and nothing changes", async () => {
        await done(a.documents.swap("kv/x", "sound", null, { v: 1 }));
        await failure(
          a.documents.mutate("kv/x", "sound", () => ({ kind: "put", body: { v: "\ud800" }, answer: 0 })),
          "not portable",
        );
        expect(await done(a.documents.peek("kv/x", "sound"))).toEqual({ v: 1 });
      });

      test("are listed by namespace", async () => {
        for (const key of ["b", "A", "é"]) await done(a.documents.swap("list/one", key, null, { key }));
        await done(a.documents.swap("list/two", "x", null, {}));
        expect(await done(b.documents.keys("list/one"))).toMatchObject({ complete: true });
        expect(new Set((await done(b.documents.keys("list/one"))).names)).toEqual(new Set(["A", "b", "é"]));
        expect(new Set((await done(b.documents.list("list/one"))).map(({ key }) => key))).toEqual(
          new Set(["A", "b", "é"]),
        );
        expect(await done(b.documents.namespaces("list/"))).toEqual({
          names: ["list/one", "list/two"],
          complete: true,
        });
        expect(await done(b.documents.list("list/none"))).toEqual([]);
      });
    });

    describe("blobs", () => {
      test("are found by what they hold", async () => {
        const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
        const sha256 = await done(a.blobs.put(bytes));
        expect(sha256).toMatch(/^[0-9a-f]{64}$/);
        expect(await done(b.blobs.put(bytes))).toBe(sha256);
        expect(Buffer.from((await done(b.blobs.get(sha256))) ?? []).equals(bytes)).toBe(true);
        expect(await done(a.blobs.put(new Uint8Array(0)))).toBe(
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        );
      });

      test("that nobody stored are absent", async () => {
        expect(await done(a.blobs.get("0".repeat(64)))).toBeNull();
        expect(await done(a.blobs.get("../../etc/passwd"))).toBeNull();
      });
    });

    describe("leases", () => {
      const held = async (store: Store, name: string, holder: string, ttlMs = 60_000): Promise<Lease> => {
        const acquired = await done(store.leases.acquire(name, holder, ttlMs));
        if (acquired.kind !== "held") throw new Error(JSON.stringify(acquired));
        return acquired.lease;
      };

      test("belong to one holder until they are released; the fence counts the holders (LSE-1)", async () => {
        const first = await held(a, "slots/one", "a#1");
        expect(first).toMatchObject({ name: "slots/one", holder: "a#1", fence: 1 });
        expect(await done(b.leases.acquire("slots/one", "b#1", 60_000))).toEqual({ kind: "denied", by: first });
        expect(await done(b.leases.read("slots/one"))).toEqual(first);
        expect(await held(a, "slots/one", "a#1")).toMatchObject({ fence: 1 });
        expect(await done(a.leases.release(first))).toEqual({ released: true });
        expect(await done(b.leases.read("slots/one"))).toBeNull();
        expect(await held(b, "slots/one", "b#1")).toMatchObject({ fence: 2 });
        expect(await done(a.leases.release(first))).toEqual({ released: false });
      });

      test("are renewed by their holder and lost after a release", async () => {
        const lease = await held(a, "slots/renew", "a#1", 30_000);
        const renewed = await done(a.leases.renew(lease, 90_000));
        expect(renewed.kind).toBe("held");
        expect((await done(b.leases.read("slots/renew")))?.expiresAtSeconds).toBeGreaterThan(
          lease.expiresAtSeconds + 50,
        );
        await done(a.leases.release(lease));
        expect(await done(a.leases.renew(lease, 90_000))).toEqual({ kind: "lost", by: null });
        const other = await held(b, "slots/renew", "b#1");
        expect(await done(a.leases.renew(lease, 90_000))).toEqual({ kind: "lost", by: other });
        expect(await done(a.leases.renew({ ...lease, name: "slots/never" }, 1000))).toEqual({ kind: "lost", by: null });
      });

      test("fall to others when they expire", async () => {
        const lease = await held(a, "slots/expire", "a#1", 50);
        await pair.pass(60);
        expect(await held(b, "slots/expire", "b#1")).toMatchObject({ fence: 2 });
        expect((await done(a.leases.renew(lease, 60_000))).kind).toBe("lost");
      });

      test("go to one of many who ask at once", async () => {
        const asked = await Promise.all(
          Array.from({ length: 20 }, (_, i) => done((i % 2 ? a : b).leases.acquire("slots/race", `n#${i}`, 60_000))),
        );
        expect(asked.filter(({ kind }) => kind === "held")).toHaveLength(1);
      });

      test("are listed while held", async () => {
        const lease = await held(a, "list/held", "a#1");
        await done(a.leases.release(await held(a, "list/released", "a#1")));
        const listed = (await done(b.leases.list())).filter(({ name }) => name.startsWith("list/"));
        expect(listed).toEqual([lease]);
      });

      test("rest on locks that keep nodes apart", async () => {
        expect(await done(a.leases.fidelity())).toEqual({ kind: "exclusive" });
      });
    });

    describe("upkeep", () => {
      test("deletes a stream whose newest record is old, and only that (GC-2)", async () => {
        for (let n = 0; n < 3; n++) await done(a.records.append("gc/stream", { n }));
        expect(await done(a.upkeep.collectStream("gc/stream", 1000, false))).toEqual({
          kind: "kept",
          because: "recent",
        });
        const all = { kind: "collected", records: 3 };
        expect(await done(a.upkeep.collectStream("gc/stream", future, true))).toEqual(all);
        expect(await numbers(a, "gc/stream")).toHaveLength(3);
        expect(await done(a.upkeep.collectStream("gc/stream", future, false))).toEqual(all);
        expect((await done(a.records.streams("gc/"))).names).toEqual([]);
        expect(await done(a.upkeep.collectStream("gc/stream", future, false))).toEqual({
          kind: "kept",
          because: "absent",
        });
        await done(a.records.append("gc/stream", { n: 7 }));
        expect(await numbers(b, "gc/stream")).toEqual([7]);
        expect(await done(a.records.max("gc/stream", "n"))).toBe(7);
      });

      test("deletes documents whose instant has passed; those without one stay", async () => {
        await done(a.documents.swap("gcidem/s", "old", null, { expiresAt: 1000.5 }));
        await done(a.documents.swap("gcidem/s", "new", null, { expiresAt: future * 2 }));
        await done(a.documents.swap("gcidem/s", "permanent", null, { claimedAt: 1 }));
        expect(await done(a.upkeep.collectDocuments("gcidem/", "expiresAt", future, true))).toBe(1);
        expect(await done(a.upkeep.collectDocuments("gcidem/", "expiresAt", future, false))).toBe(1);
        expect((await done(b.documents.keys("gcidem/s"))).names).toEqual(["new", "permanent"]);
      });

      test("deletes dead leases of a prefix and no others (LSE-3)", async () => {
        for (const name of ["dagadvance/d/old", "gcslots/keep"]) {
          const acquired = await done(a.leases.acquire(name, "a#1", 60_000));
          if (acquired.kind === "held") await done(a.leases.release(acquired.lease));
        }
        expect(await done(a.upkeep.collectLeases("dagadvance/", 1000, false))).toBe(0);
        expect(await done(a.upkeep.collectLeases("dagadvance/", future, true))).toBe(1);
        expect(await done(a.upkeep.collectLeases("dagadvance/", future, false))).toBe(1);
        const fences = await Promise.all(
          ["dagadvance/d/old", "gcslots/keep"].map((name) => done(b.leases.acquire(name, "b#1", 60_000))),
        );
        expect(fences).toMatchObject([{ lease: { fence: 1 } }, { lease: { fence: 2 } }]);
      });

      test("deletes payloads nobody refers to once they are old (GC-3)", async () => {
        const kept = await done(a.blobs.put(Buffer.from("kept")));
        const unused = await done(a.blobs.put(Buffer.from("unused")));
        expect(await done(a.upkeep.collectBlobs(new Set([kept]), 1000, false))).toBe(0);
        await done(a.upkeep.collectBlobs(new Set([kept]), future, true));
        expect(await done(a.blobs.get(unused))).not.toBeNull();
        await done(a.upkeep.collectBlobs(new Set([kept]), future, false));
        expect(await done(b.blobs.get(unused))).toBeNull();
        expect(await done(b.blobs.get(kept))).not.toBeNull();
      });

      test("tells what there is", async () => {
        await done(a.records.append("inventory/x", {}));
        await done(a.documents.swap("inventory/docs", "k", null, {}));
        const { streams, namespaces, unnamed, quarantined } = await done(b.upkeep.inventory());
        expect(streams).toContainEqual({ name: "inventory/x", records: 1 });
        expect(namespaces).toContainEqual({ name: "inventory/docs", documents: 1 });
        expect({ unnamed, quarantined }).toEqual({
          unnamed: { streams: 0, records: 0, namespaces: 0 },
          quarantined: 0,
        });
      });
    });

    test("counts what it did, by operation (MET-1)", async () => {
      const before = a.counters().operations.append?.finished ?? 0;
      await done(a.records.append("runs/counted", {}));
      expect(a.counters().operations.append).toMatchObject({ finished: before + 1, errors: 0 });
      expect(a.counters()).toMatchObject({ shedWrites: 0, throttledOperations: 0 });
      expect(a.pendingWrites()).toBe(0);
    });

    test("refuses everything once closed, after finishing what it had accepted", async () => {
      const { a: own, b: other, close } = await open();
      const last = Promise.all(Array.from({ length: 20 }, (_, n) => own.records.append("runs/last", { n })));
      expect(await own.close(10_000)).toEqual({ unfinished: 0, threads: "ended" });
      expect((await last).map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => "done"));
      expect(await numbers(other, "runs/last")).toHaveLength(20);
      await failure(own.records.append("runs/last", {}), "closed");
      await failure(own.leases.acquire("slots/x", "a", 1000), "closed");
      await close();
    });
  });
}

function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

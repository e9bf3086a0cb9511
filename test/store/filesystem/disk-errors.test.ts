import { describe, expect, test } from "vitest";
import { attempt } from "../../../src/store/attempt.ts";
import { type Engine, StoreFault } from "../../../src/store/engine.ts";
import { type Disk, diskError } from "../../../src/store/filesystem/disk.ts";
import { filesystemEngine } from "../../../src/store/filesystem/engine.ts";
import { engineOn, looser, operations, settledStore, text, view } from "../support/probed-operations.ts";
import { volatileDisk } from "../support/volatile-disk.ts";

describe.each(Object.keys(operations))("%s, with one error at each of its system calls", (name) => {
  const operate = operations[name] ?? (() => undefined);
  const before = view(settledStore().afterPowerCut("nothing"));
  const whole = settledStore();
  operate(engineOn(whole));
  const after = view(whole);
  const tolerant = name.includes("prune") || name.includes("publication");

  test.each(["EIO", "ENOSPC", "EACCES"])(
    "%s: it fails and nothing changed, or it is done; nothing is left lying about",
    (code) => {
      for (let call = 0, hit = true; hit; call++) {
        const disk = settledStore();
        const engine = engineOn(disk);
        disk.failAt(call, code);
        let failed: unknown = null;
        try {
          operate(engine);
        } catch (error) {
          failed = error;
        }
        hit = disk.hasFailed;
        disk.failAt(Number.POSITIVE_INFINITY, "");
        const found = view(disk.afterPowerCut("nothing"));
        const records = Object.fromEntries(Object.entries(found.records).filter(([, numbers]) => numbers.length > 0));
        const seen = {
          ...(tolerant ? looser({ ...found, records }, before, after) : { ...found, records }),
          complete: true,
        };
        const where = `call ${call}, ${failed}`;
        if (!hit) expect(seen, where).toEqual(after);
        else expect([before, after], where).toContainEqual(seen);
        const left = [...disk.files().keys()].filter((path) => path.includes("/tmp/"));
        expect(left.length, where).toBeLessThanOrEqual(disk.trace.some((line) => line.startsWith("unlink")) ? 1 : 0);
        operate(engine); // healed, the same engine goes on
      }
    },
  );
});

test("an error after the change is in place is not a failure but not known (THR-2)", () => {
  const disk = settledStore();
  const engine = engineOn(disk);
  const data = { stream: "runs/old", text: text(9), keep: null };
  engine.append(data);
  disk.trace.length = 0;
  engine.append(data);
  disk.failAt(disk.trace.length - 1, "EIO");
  expect(attempt(engine, "append", data)).toEqual({
    kind: "unknown",
    because: "written, but its directory could not be flushed: EIO: flush directory /store/default/records/runs%2Fold",
  });
});

describe("a record that cannot be read now", () => {
  function unreadable(code: string): {
    readonly engine: Engine;
    readonly warnings: string[];
    readonly files: () => number;
  } {
    const disk = volatileDisk();
    const bad: Disk = {
      ...disk,
      readFile(path, max) {
        if (path.includes("0000000000002.")) throw diskError(code, `cannot open ${path}`);
        return disk.readFile(path, max);
      },
    };
    const warnings: string[] = [];
    let micros = 0;
    const engine = filesystemEngine(
      { path: "/s", deploymentId: null, writer: "aaaaaaaaaaaa" },
      bad,
      { wallMicros: () => (micros += 1_000_000) },
      (message) => warnings.push(message),
    );
    engine.start({ topology: "auto" });
    micros = 0;
    for (const n of [1, 2, 3]) engine.append({ stream: "runs/a", text: text(n), keep: null });
    return {
      engine,
      warnings,
      files: () => [...disk.files().keys()].filter((path) => path.includes("runs%2Fa")).length,
    };
  }
  const query = { stream: "runs/a", newestFirst: false, limit: 9 };

  test.each([
    ["EIO", ""],
    ["ESTALE", ""],
    ["EACCES", " (records are created 0o600: every node sharing this store must run as the same user)"],
  ])("is skipped this time and stays (%s, QUA-1)", (code, hint) => {
    const { engine, warnings, files } = unreadable(code);
    for (let times = 0; times < 2; times++)
      expect(engine.listRecords({ ...query, reading: "tolerant" }).map(({ id }) => id.slice(0, 13))).toEqual([
        "0000000000001",
        "0000000000003",
      ]);
    expect(warnings).toEqual([expect.stringMatching(/^state: cannot read record 0000000000002.*leaving it in place/)]);
    expect(warnings[0]?.endsWith(`leaving it in place${hint}`)).toBe(true);
    expect(files()).toBe(3);
  });

  test("makes a strict read fail, and a watermark (QUA-4)", () => {
    const { engine } = unreadable("EIO");
    expect(() => engine.listRecords({ ...query, reading: "strict" })).toThrow(StoreFault);
    expect(() => engine.maxOfField({ stream: "runs/a", field: "n" })).toThrow(/^cannot read record 0000000000002/);
  });
});

describe("a clock that is set back (acceptance 8)", () => {
  function store() {
    let micros = 2_000_000_000_000;
    const disk = volatileDisk();
    const engine = filesystemEngine(
      { path: "/s", deploymentId: null, writer: "aaaaaaaaaaaa" },
      disk,
      { wallMicros: () => ++micros },
      () => undefined,
    );
    engine.start({ topology: "auto" });
    return {
      engine,
      setBack: () => {
        micros -= 3_600_000_000;
      },
    };
  }

  test("new records still come last and survive the prune, and the watermark stays", () => {
    const { engine, setBack } = store();
    for (let n = 1; n <= 20; n++) {
      if (n === 10) setBack();
      engine.append({ stream: "runs/a", text: text(n), keep: 3 });
      const [newest] = engine.listRecords({ stream: "runs/a", newestFirst: true, limit: 1, reading: "strict" });
      expect(newest?.text).toBe(text(n));
      expect(engine.maxOfField({ stream: "runs/a", field: "n" })).toBe(`${n}`);
    }
  });

  test("a held lease stays held, and its holder can go on", () => {
    const { engine, setBack } = store();
    const lease = { name: "slots/a", holder: "a", ttlSeconds: 30 };
    const taken = engine.acquireLease(lease);
    setBack();
    expect(engine.acquireLease({ ...lease, holder: "b" }).kind).toBe("denied");
    expect(taken.kind === "held" && engine.renewLease({ lease: taken.lease, ttlSeconds: 30 }).kind).toBe("held");
  });
});

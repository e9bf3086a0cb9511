import { describe, expect, test } from "vitest";
import type { JobPause } from "../../../src/contract/pause.ts";
import { pauseRecord } from "../../../src/journal/pauses/pause-record.ts";
import { createDurablePauses } from "../../../src/journal/pauses/pauses.ts";
import { encodeJson } from "../../../src/store/json-text.ts";
import { failing, hanging, type JournalBench, journalBench, NOON } from "../support/journal-bench.ts";

const second = 1000;
const hour = 3600 * second;

function node(host = "nodea", shared: Partial<JournalBench> = {}) {
  const bench = journalBench(shared);
  const { backend, writes, drops, clock, log } = bench;
  const pauses = createDurablePauses({ host, backend, writes, drops, clock, log });
  return {
    ...bench,
    pauses,
    written: () => writes.settled("paused/backup"),
    look: () => pauses.refresh(["backup", "other"]),
  };
}

const pause = (over: Partial<JobPause> = {}): JobPause => ({
  since: NOON,
  until: NOON + hour,
  note: "maint",
  by: "alice",
  channel: "api",
  ...over,
});

describe("state 6.4: pause records", () => {
  test("have the bytes other implementations write", async () => {
    const here = node();
    here.pauses.paused("backup", pause());
    await here.written();
    here.pauses.resumed("backup", "bob", "mcp");
    await here.written();
    expect((await here.bodies("paused/backup")).map((body) => encodeJson(body))).toEqual([
      {
        kind: "text",
        text: '{"at":"2026-11-30T12:00:00+00:00","by":"alice","channel":"api","host":"nodea","kind":"paused","note":"maint","since":"2026-11-30T12:00:00+00:00","until":"2026-11-30T13:00:00+00:00"}',
      },
      {
        kind: "text",
        text: '{"at":"2026-11-30T12:00:00+00:00","by":"bob","channel":"mcp","host":"nodea","kind":"resumed"}',
      },
    ]);
  });

  test("one without since holds since ever; one without until, or of another kind, is none", () => {
    expect(pauseRecord.decode({ kind: "paused", until: "2026-11-30T13:00:00Z" })).toMatchObject({
      value: { since: null, channel: "api", note: "" },
    });
    expect(pauseRecord.decode({ kind: "paused" }).kind).toBe("damaged");
    expect(pauseRecord.decode({ kind: "muted", until: "2026-11-30T13:00:00Z" }).kind).toBe("damaged");
  });

  test("a note that is no whole text does not cost the pause", async () => {
    const here = node();
    here.pauses.paused("backup", pause({ note: "half \ud83d" }));
    await here.written();
    expect(await here.bodies("paused/backup")).toMatchObject([{ note: "half \ufffd" }]);
  });
});

describe("state 6.4: refresh", () => {
  test("a pause outlives the daemon, and every node that shares the store honours it", async () => {
    const here = node();
    here.pauses.paused("backup", pause());
    await here.written();
    expect(await node("nodea", here).look()).toEqual([{ job: "backup", pause: pause() }]);
    expect(await node("nodeb", here).look()).toEqual([{ job: "backup", pause: pause() }]);
  });

  test("the newest record decides, and whether it is over is judged when it is read", async () => {
    const here = node();
    here.pauses.paused("backup", pause());
    here.pauses.resumed("backup", "bob", "api");
    await here.written();
    expect(await node("nodeb", here).look()).toEqual([{ job: "backup", pause: null }]);
    here.pauses.paused("backup", pause());
    await here.written();
    await here.pass(hour);
    expect(await node("nodeb", here).look()).toEqual([{ job: "backup", pause: null }]);
  });

  test("looks at most every 55 s", async () => {
    const here = node();
    const other = node("nodeb", here);
    expect(await other.look()).toEqual([]);
    here.pauses.paused("backup", pause());
    await here.written();
    await here.pass(54 * second);
    expect(await other.look()).toEqual([]);
    await here.pass(second);
    expect(await other.look()).toHaveLength(1);
  });

  test("a job whose change is on its way keeps what memory knows", async () => {
    const here = node();
    const other = node("nodeb", here);
    other.pauses.paused("backup", pause());
    await other.written();
    here.behave((operation) => (operation === "append" ? { kind: "slow", delayMs: 5 * second } : { kind: "answer" }));
    here.pauses.resumed("backup", "bob", "api");
    expect(await here.look()).toEqual([]);
  });

  test("and so does one that changes while the look goes on", async () => {
    const here = node();
    const other = node("nodeb", here);
    other.pauses.paused("backup", pause());
    await other.written();
    here.behave((operation) =>
      operation === "listRecords" ? { kind: "slow", delayMs: 5 * second } : { kind: "answer" },
    );
    const looked = here.look();
    await here.pass(second);
    here.pauses.resumed("backup", "bob", "api");
    await here.pass(5 * second);
    expect(await looked).toEqual([]);
  });

  test.each([
    ["cannot be listed", failing("streamNames")],
    ["cannot be read", failing("listRecords")],
  ])("UNA-1: streams that %s keep the last known state", async (_, conduct) => {
    const here = node();
    here.pauses.paused("backup", pause());
    await here.written();
    const other = node("nodeb", here);
    other.behave(conduct);
    expect(await other.look()).toEqual([]);
  });

  test("UNA-1: and so does a store that hangs", async () => {
    const here = node();
    here.pauses.paused("backup", pause());
    await here.written();
    const other = node("nodeb", here);
    other.behave(hanging("listRecords"));
    const looked = other.look();
    await other.pass(10 * second);
    expect(await looked).toEqual([]);
  });
});

describe("state 6.4: a pause that cannot be written", () => {
  test("is counted and warned of, kept, and written before the next look, the newest only", async () => {
    const here = node();
    here.unplug();
    here.pauses.paused("backup", pause({ note: "one" }));
    here.pauses.paused("backup", pause({ note: "two" }));
    expect(here.drops.counts().pause).toBe(2);
    expect(here.logged[0]).toBe(
      "WARNING state: dropped a durable write (pause) of backup: the state backend is not running; it is written when the store is back",
    );
    here.plugIn();
    expect(await here.look()).toEqual([{ job: "backup", pause: pause({ note: "two" }) }]);
    expect(await here.bodies("paused/backup")).toMatchObject([{ note: "two" }]);
  });

  test("protects memory from an older record until it has landed", async () => {
    const here = node();
    const other = node("nodeb", here);
    other.pauses.paused("backup", pause());
    await other.written();
    here.behave(failing("append"));
    here.pauses.resumed("backup", "bob", "api");
    await here.written();
    expect(await here.look()).toEqual([]);
    here.behave(null);
    await here.pass(55 * second);
    expect(await here.look()).toEqual([{ job: "backup", pause: null }]);
  });
});

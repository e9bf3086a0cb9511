import { describe, expect, test } from "vitest";
import { acquired, released, renewed, type Standing } from "../../src/store/lease.rules.ts";
import type { Lease } from "../../src/store/store.ts";

const now = 1000;
const lease = (over: Partial<Lease> = {}): Lease => ({
  name: "slots/a",
  holder: "a#1",
  fence: 4,
  expiresAtSeconds: now + 10,
  ...over,
});
const standing = (over: Partial<Lease> = {}): Standing => ({ kind: "lease", lease: lease(over) });
const unreadable: Standing = { kind: "unreadable", because: "not a lease" };

describe("acquire (LSE-4)", () => {
  const by = (holder: string, found: Standing) => acquired(found, "slots/a", holder, 30, now);

  test("a lease nobody ever had starts at fence 1", () => {
    const taken = lease({ fence: 1, expiresAtSeconds: now + 30 });
    expect(by("a#1", { kind: "absent" })).toEqual({ write: taken, answer: { kind: "held", lease: taken } });
  });

  test("our own valid one is extended and keeps its fence (D-OWN-4)", () => {
    expect(by("a#1", standing()).write).toEqual(lease({ expiresAtSeconds: now + 30 }));
  });

  test("another's valid one is denied", () => {
    expect(by("b#2", standing())).toEqual({ write: null, answer: { kind: "denied", by: lease() } });
  });

  test.each([
    ["expired", { expiresAtSeconds: now }],
    ["released", { expiresAtSeconds: 0 }],
  ])("an %s one is taken with the next fence, also by whoever had it", (_, over) => {
    for (const holder of ["a#1", "b#2"])
      expect(by(holder, standing(over)).write).toEqual(lease({ holder, fence: 5, expiresAtSeconds: now + 30 }));
  });

  test("one that cannot be understood is nobody's", () => {
    expect(by("a#1", unreadable)).toEqual({ write: null, answer: { kind: "unreadable" } });
  });
});

describe("renew (LSE-4)", () => {
  const mine = lease();
  const from = (found: Standing) => renewed(found, mine, 30, now);

  test("holder and fence match: extended, also a moment past expiry", () => {
    for (const expiresAtSeconds of [now + 1, now - 1])
      expect(from(standing({ expiresAtSeconds })).write).toEqual(lease({ expiresAtSeconds: now + 30 }));
  });

  test("released, taken over, retaken or gone: lost", () => {
    expect(from(standing({ expiresAtSeconds: 0 })).answer).toEqual({ kind: "lost", by: null });
    expect(from(standing({ holder: "b#2", fence: 5 })).answer).toEqual({
      kind: "lost",
      by: lease({ holder: "b#2", fence: 5 }),
    });
    expect(from(standing({ fence: 5 })).answer).toEqual({ kind: "lost", by: lease({ fence: 5 }) });
    expect(from({ kind: "absent" }).answer).toEqual({ kind: "lost", by: null });
    expect(from(unreadable).answer).toEqual({ kind: "unreadable" });
  });
});

describe("release (LSE-4)", () => {
  test("ours is freed in place and keeps its fence", () => {
    expect(released(standing(), lease())).toEqual({
      write: lease({ expiresAtSeconds: 0 }),
      answer: { released: true },
    });
  });

  test("another's, a later one of ours and an unreadable one stay as they are", () => {
    for (const found of [standing({ holder: "b#2" }), standing({ fence: 5 }), unreadable, { kind: "absent" } as const])
      expect(released(found, lease())).toEqual({ write: null, answer: { released: false } });
  });
});

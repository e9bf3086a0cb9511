import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SlaConfig } from "../../src/config/model.ts";
import {
  CREDITS_MAX,
  evaluateSla,
  newSlaWatch,
  type SlaEffect,
  type SlaEvent,
  type SlaSituation,
  type SlaWatch,
  slaMessage,
  slaStep,
  slaView,
} from "../../src/scheduler/sla.rules.ts";

const NONE: SlaConfig = { maxTimeSinceSuccessSeconds: null, lateAfterSeconds: null, maxRuntimeSeconds: null };
const sla = (checks: Partial<SlaConfig>): SlaConfig => ({ ...NONE, ...checks });
const IDLE: SlaSituation = { isOwner: true, runningSince: [] };

/** A job from second 0 on; instants are seconds, a minute pass each 60 of them. */
function job(config: SlaConfig, { enabled = true } = {}) {
  let watch = newSlaWatch(0, enabled);
  const transcript: string[] = [];
  const note = (second: number, effects: readonly SlaEffect[]) => {
    for (const effect of effects) {
      const observed = effect.kind === "breached" ? ` ${effect.observedSeconds}s > ${effect.thresholdSeconds}s` : "";
      transcript.push(`${second} ${effect.kind} ${effect.check}${observed}`);
    }
  };
  return {
    transcript,
    watch: (): SlaWatch => watch,
    at(second: number, event: SlaEvent) {
      const turn = slaStep(watch, event);
      watch = turn.watch;
      note(second, turn.effects);
    },
    look(second: number, situation: Partial<SlaSituation> = {}, changed: SlaConfig = config) {
      const turn = evaluateSla(watch, changed, { ...IDLE, ...situation }, second * 1000);
      watch = turn.watch;
      note(second, turn.effects);
    },
    view: (second: number, situation: Partial<SlaSituation> = {}) =>
      slaView(watch, config, { ...IDLE, ...situation }, second * 1000),
  };
}

const due = (second: number): SlaEvent => ({ kind: "due", slot: second * 1000 });
const succeeded = (second: number): SlaEvent => ({ kind: "succeeded", at: second * 1000 });
const paused = (since: number, until: number): SlaEvent => ({
  kind: "paused",
  since: since * 1000,
  until: until * 1000,
});
const resumed = (second: number): SlaEvent => ({ kind: "resumed", at: second * 1000 });
const disabled = (second: number): SlaEvent => ({ kind: "disabled", at: second * 1000 });
const enabled = (second: number): SlaEvent => ({ kind: "enabled", at: second * 1000 });

describe("maxTimeSinceSuccess", () => {
  const checked = sla({ maxTimeSinceSuccessSeconds: 100 });

  test("counts from when the job was first seen, is told once, and ends silently with a success", () => {
    const it = job(checked);
    for (const second of [60, 120, 180, 240]) it.look(second);
    it.at(250, succeeded(250));
    for (const second of [300, 360]) it.look(second);
    expect(it.transcript).toEqual([
      "120 breached maxTimeSinceSuccess 120s > 100s",
      "300 recovered maxTimeSinceSuccess",
      "360 breached maxTimeSinceSuccess 110s > 100s",
    ]);
  });

  test("exactly the threshold is no breach", () => {
    const it = job(checked);
    it.look(100);
    expect(it.transcript).toEqual([]);
  });

  test("a success only moves forward", () => {
    const it = job(checked);
    it.at(200, succeeded(200));
    it.at(210, succeeded(150)); // an older run recorded later
    it.look(290);
    expect(it.transcript).toEqual([]);
  });

  test.each([
    { ledger: "its newest success", lastSuccessAt: -50_000, oldestRunAt: null, observed: 110 },
    { ledger: "its oldest run when none succeeded", lastSuccessAt: null, oldestRunAt: -900_000, observed: 960 },
    { ledger: "nothing when it is empty", lastSuccessAt: null, oldestRunAt: null, observed: 60 },
  ])("after a restart it counts from what the ledger has: $ledger", ({ lastSuccessAt, oldestRunAt, observed }) => {
    const it = job(sla({ maxTimeSinceSuccessSeconds: 1 }));
    it.at(0, { kind: "warmed", lastSuccessAt, oldestRunAt });
    it.look(60);
    expect(it.transcript).toEqual([`60 breached maxTimeSinceSuccess ${observed}s > 1s`]);
  });

  test("a pause longer than the threshold does not page at its end", () => {
    const it = job(checked);
    it.at(50, paused(50, 1000));
    for (const second of [60, 120, 960, 1020]) it.look(second); // 50 s before it and 20 s after it count
    expect(it.transcript).toEqual([]);
    it.look(1060);
    expect(it.transcript).toEqual(["1060 breached maxTimeSinceSuccess 110s > 100s"]);
  });

  test("a resume before its time ends the credit there; disablement counts like a pause, overlap once", () => {
    const it = job(checked);
    it.at(10, paused(10, 1000));
    it.at(50, disabled(50));
    it.at(80, resumed(80));
    it.at(200, enabled(200)); // 10 to 200 are credited
    it.look(291);
    expect(it.transcript).toEqual(["291 breached maxTimeSinceSuccess 101s > 100s"]);
  });

  test("pausing again replaces the window", () => {
    const it = job(checked);
    it.at(10, paused(10, 1000));
    it.at(100, paused(100, 120));
    it.look(200); // 10 + 80
    expect(it.transcript).toEqual([]);
    it.look(240);
    expect(it.transcript).toEqual(["240 breached maxTimeSinceSuccess 130s > 100s"]);
  });

  test("a job added disabled has credit from the start", () => {
    const it = job(checked, { enabled: false });
    it.look(600);
    it.at(600, enabled(600));
    it.look(660);
    expect(it.transcript).toEqual([]);
  });

  const step = fc.record({
    wait: fc.integer({ min: 1, max: 20 }),
    what: fc.constantFrom("pause", "resume", "disable", "enable", "success", "none"),
    length: fc.integer({ min: 1, max: 60 }),
  });

  test("credit equals, second by second, the time that was paused or disabled since the last success", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const it = job(sla({ maxTimeSinceSuccessSeconds: 1e9 }));
        const offSeconds: boolean[] = []; // the slow, obvious twin
        let now = 0;
        let pauseUntil = 0;
        let isDisabled = false;
        let reference = 0;
        for (const { wait, what, length } of steps) {
          for (let second = 0; second < wait; second += 1) offSeconds.push(isDisabled || now + second < pauseUntil);
          now += wait;
          if (what === "pause") {
            it.at(now, paused(now, now + length));
            pauseUntil = now + length;
          } else if (what === "resume") {
            it.at(now, resumed(now));
            pauseUntil = Math.min(pauseUntil, now);
          } else if (what === "disable") {
            it.at(now, disabled(now));
            isDisabled = true;
          } else if (what === "enable") {
            it.at(now, enabled(now));
            isDisabled = false;
          } else if (what === "success") {
            it.at(now, succeeded(now));
            reference = now;
          }
        }
        const expected = offSeconds.slice(reference).filter((off) => !off).length;
        const turn = evaluateSla(
          { ...it.watch(), disabledSince: null, pause: null, credits: creditsOf(it.watch(), now) },
          sla({ maxTimeSinceSuccessSeconds: 0 }),
          IDLE,
          now * 1000,
        );
        const [effect] = turn.effects;
        expect(effect?.kind === "breached" ? effect.observedSeconds : 0).toBe(expected);
      }),
    );
  });

  /** All credit a watch has up to now, as closed spans: what an evaluation sees once job and pause are over. */
  function creditsOf(watch: SlaWatch, now: number) {
    const closed = slaStep(slaStep(watch, resumed(now)).watch, enabled(now)).watch;
    return closed.credits;
  }

  test("only the newest credits are kept", () => {
    const it = job(checked);
    for (let k = 1; k <= 100; k += 1) {
      it.at(k * 10, paused(k * 10, k * 10 + 1));
      it.at(k * 10 + 5, resumed(k * 10 + 5));
    }
    expect(it.watch().credits).toHaveLength(CREDITS_MAX);
    expect(it.watch().credits.at(-1)).toEqual({ since: 1_000_000, until: 1_001_000 });
  });
});

describe("lateAfter", () => {
  const checked = sla({ lateAfterSeconds: 30 });

  test("a slot that nothing starts for is late; any start ends it", () => {
    const it = job(checked);
    it.at(60, due(60));
    it.look(60);
    it.look(120);
    it.look(180);
    it.at(190, { kind: "started" });
    it.look(240);
    expect(it.transcript).toEqual(["120 breached lateAfter 60s > 30s", "240 recovered lateAfter"]);
  });

  test.each(["started", "dropped"] as const)("a slot that was %s is never late", (kind) => {
    const it = job(checked);
    it.at(60, due(60));
    it.at(60, { kind });
    it.look(600);
    expect(it.transcript).toEqual([]);
  });

  test("while a run of the job goes on, a slot that waits behind it is not late", () => {
    const it = job(checked);
    it.at(60, due(60));
    it.look(120, { runningSince: [1000] });
    expect(it.transcript).toEqual([]);
    it.look(180);
    expect(it.transcript).toEqual(["180 breached lateAfter 120s > 30s"]);
  });

  test("the last slot counts, and a restart knows of none", () => {
    const it = job(checked);
    it.at(60, due(60));
    it.at(120, due(120));
    it.look(140);
    expect(it.transcript).toEqual([]);
    const restarted = job(checked);
    restarted.look(600);
    expect(restarted.transcript).toEqual([]);
  });

  test("a slot that waited through a pause is not late for the pause", () => {
    const it = job(checked);
    it.at(60, due(60));
    it.at(70, paused(70, 1000));
    it.look(1010);
    expect(it.transcript).toEqual([]);
    it.look(1060);
    expect(it.transcript).toEqual(["1060 breached lateAfter 70s > 30s"]);
  });
});

describe("maxRuntime", () => {
  const checked = sla({ maxRuntimeSeconds: 300 });

  test("the longest live run is measured", () => {
    const it = job(checked);
    it.look(300, { runningSince: [100_000, 0] });
    it.look(360, { runningSince: [100_000, 0] });
    it.look(420, { runningSince: [200_000] });
    it.look(480);
    expect(it.transcript).toEqual(["360 breached maxRuntime 360s > 300s", "420 recovered maxRuntime"]);
  });
});

describe("latches", () => {
  const checked = sla({ maxTimeSinceSuccessSeconds: 10, maxRuntimeSeconds: 10 });

  test.each([
    { when: "paused", event: paused(60, 600) },
    { when: "disabled", event: disabled(60) },
  ])("a job that is $when releases them in the same turn", ({ event }) => {
    const it = job(checked);
    it.look(60, { runningSince: [0] });
    it.at(61, event);
    expect(it.transcript.slice(2)).toEqual(["61 released maxTimeSinceSuccess", "61 released maxRuntime"]);
    it.look(120, { runningSince: [0] });
    expect(it.transcript).toHaveLength(4);
  });

  test("a job that is another node's releases them at the next look", () => {
    const it = job(checked);
    it.look(60);
    it.look(120, { isOwner: false });
    expect(it.transcript).toEqual(["60 breached maxTimeSinceSuccess 60s > 10s", "120 released maxTimeSinceSuccess"]);
  });

  test("they survive a reload; a check that is gone from the configuration is released", () => {
    const it = job(checked);
    it.look(60, { runningSince: [0] });
    it.look(120, { runningSince: [0] }, sla({ maxTimeSinceSuccessSeconds: 20 }));
    expect(it.transcript.slice(2)).toEqual(["120 released maxRuntime"]);
  });

  test("a pause's end is judged by the clock: the breach is told anew once it is over", () => {
    const it = job(sla({ maxRuntimeSeconds: 10 }));
    it.at(0, paused(0, 100));
    it.look(60, { runningSince: [0] });
    it.look(120, { runningSince: [0] });
    expect(it.transcript).toEqual(["120 breached maxRuntime 120s > 10s"]);
  });
});

test("a job's view measures anew and keeps the instant of the latch", () => {
  const it = job(sla({ maxTimeSinceSuccessSeconds: 5, lateAfterSeconds: 30 }));
  expect(it.view(1)).toEqual({
    thresholds: { maxTimeSinceSuccessSeconds: 5, lateAfterSeconds: 30 },
    state: "ok",
    breaches: [],
  });
  it.at(20, due(20));
  it.look(60);
  expect(it.view(75.5)).toEqual({
    thresholds: { maxTimeSinceSuccessSeconds: 5, lateAfterSeconds: 30 },
    state: "late",
    breaches: [
      { check: "maxTimeSinceSuccess", since: 60_000, observedSeconds: 75.5, thresholdSeconds: 5 },
      { check: "lateAfter", since: 60_000, observedSeconds: 55.5, thresholdSeconds: 30 },
    ],
  });
  it.at(76, { kind: "started" });
  expect(it.view(77)?.breaches[1]).toMatchObject({ observedSeconds: 40 }); // over, but not yet looked at
  expect(job(NONE).view(77)).toBeNull();
});

test("breach and recovery have their lines, a release has none", () => {
  const breach: SlaEffect = {
    kind: "breached",
    check: "lateAfter",
    observedSeconds: 61.25,
    thresholdSeconds: 60,
    lastSuccessAt: null,
  };
  expect(slaMessage("etl", breach)).toBe(
    "Job etl: SLA check lateAfter breached: observed 61.3s exceeds the threshold of 60s",
  );
  expect(slaMessage("etl", { kind: "recovered", check: "lateAfter" })).toBe("Job etl: SLA check lateAfter holds again");
  expect(slaMessage("etl", { kind: "released", check: "lateAfter" })).toBeNull();
});

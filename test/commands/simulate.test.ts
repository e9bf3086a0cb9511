import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { runCommandLine } from "../../src/commands/command-line.ts";
import { accountOf } from "../../src/commands/simulate/account.ts";
import { answerOf } from "../../src/commands/simulate/report.ts";
import { type Simulation, simulate } from "../../src/daemon/simulation/simulation.ts";
import { utcZone } from "../../src/schedule/zone.ts";
import { jobConfig } from "../support/job-config.ts";
import { configOf } from "../support/node.ts";

const folder = mkdtempSync(join(tmpdir(), "simulate-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** Runs the command on a configuration. */
async function command(yaml: string, ...args: readonly string[]) {
  const file = join(folder, "jobs.yaml");
  writeFileSync(file, yaml);
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      written[name] += String(text);
      return true;
    });
  }
  const code = await runCommandLine(["simulate", "-c", file, ...args]);
  vi.restoreAllMocks();
  return { code, ...written };
}

interface Simulated {
  readonly entries: readonly (Readonly<Record<string, unknown>> & { readonly at: string; readonly what: string })[];
  readonly jobs: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];
  readonly totals: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
  readonly complete: boolean;
  readonly to: string;
}

async function simulated(yaml: string, ...args: readonly string[]): Promise<Simulated> {
  const { code, stdout, stderr } = await command(yaml, ...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** One line per entry: the time of day, job, what, and of runs when they end and what became of them. */
const lines = ({ entries }: Simulated): string[] =>
  entries.map(({ at, job, what, ends_at, outcome, slot, slots, because }) => {
    const time = (text: unknown): string => String(text).slice(11, 19);
    const words = [time(at), job ?? "-", what];
    if (what === "caught up") words.push(`for ${time(slot)}`);
    if (what === "missed") words.push(`${slots}`, `${because}`);
    if (ends_at !== undefined && ends_at !== at) words.push(`until ${time(ends_at)}`);
    if (outcome !== undefined && outcome !== "success") words.push(String(outcome));
    return words.join(" ");
  });

const job = (name: string, schedule: string, ...more: readonly string[]): string =>
  [`  - name: ${name}`, `    command: touch ${join(folder, "ran")}`, `    schedule: "${schedule}"`]
    .concat(more.map((line) => `    ${line}`))
    .join("\n");
const jobs = (...each: readonly string[]): string => `jobs:\n${each.join("\n")}\n`;
const withStore = (yaml: string): string => `state:\n  path: ${join(folder, "store")}\n${yaml}`;
const day = ["--from", "2026-03-02", "--to", "2026-03-03"];
const morning = ["--from", "2026-03-02T00:00", "--to", "2026-03-02T06:00"];

describe("a time without an outage", () => {
  test("a plain day: every slot from --from on and before --to, in the order of time", async () => {
    const found = await simulated(
      jobs(job("late", "0 18 * * *"), job("early", "0 0,6 * * *"), job("off", "* * * * *", "enabled: false")),
      ...day,
      "--duration",
      "late=90",
    );
    expect(lines(found)).toEqual(["00:00:00 early runs", "06:00:00 early runs", "18:00:00 late runs until 18:01:30"]);
    expect(found.totals).toMatchObject({ fires: 3, ran: 3, caught_up: 0, missed: 0, most_at_once: 1 });
    expect(found.notes).toEqual(["1 job is disabled"]);
  });

  test("no command runs and no file is written", async () => {
    await simulated(
      withStore(jobs(job("a", "*/10 * * * *", "onMissed: run-all"))),
      ...day,
      "--down",
      "2026-03-02T01:00..2026-03-02T02:00",
    );
    expect(readdirSync(folder)).toEqual(["jobs.yaml"]);
  });

  test("the day on which clocks go forward, shown in another zone", async () => {
    const found = await simulated(
      jobs(
        job("gap", "30 2 * * *", "timezone: America/New_York"),
        job("hour", "0 * * * *", "timezone: America/New_York"),
      ),
      "--zone",
      "America/New_York",
      "--from",
      "2026-03-08T01:00",
      "--to",
      "2026-03-08T05:00",
    );
    expect(found.entries.map(({ at, job }) => `${at} ${job}`)).toEqual([
      "2026-03-08T01:00:00-05:00 hour",
      "2026-03-08T03:00:00-04:00 hour",
      "2026-03-08T03:30:00-04:00 gap",
      "2026-03-08T04:00:00-04:00 hour",
    ]);
  });

  test("runs that are longer than their interval overlap, are forbidden, or replace each other", async () => {
    const found = await simulated(
      jobs(
        job("allow", "*/10 * * * *"),
        job("forbid", "*/10 * * * *", "concurrencyPolicy: Forbid"),
        job("replace", "*/10 * * * *", "concurrencyPolicy: Replace"),
      ),
      "--from",
      "2026-03-02T12:00",
      "--to",
      "2026-03-02T12:21",
      "--duration",
      "900",
    );
    expect(lines(found)).toEqual([
      "12:00:00 allow runs until 12:15:00",
      "12:00:00 forbid runs until 12:15:00",
      "12:00:00 replace runs until 12:10:00 replaced",
      "12:10:00 allow overlaps until 12:25:00 null",
      "12:10:00 forbid skipped",
      "12:10:00 replace runs until 12:20:00 replaced",
      "12:20:00 allow overlaps until 12:35:00 null",
      "12:20:00 forbid runs until 12:35:00 null",
      "12:20:00 replace runs until 12:35:00 null",
    ]);
    expect(found.jobs).toMatchObject([
      { name: "allow", fires: 3, ran: 3, overlaps: 2, most_at_once: 2, skipped: {} },
      { name: "forbid", fires: 3, ran: 2, overlaps: 0, most_at_once: 1, skipped: { forbidden: 1 } },
      { name: "replace", fires: 3, ran: 3, overlaps: 0, most_at_once: 1, skipped: {} },
    ]);
    expect(found.entries[4]).toMatchObject({ reason: { kind: "forbidden", running: 1 } });
  });

  test("a job that fails is retried, and a job that waits for its success is skipped", async () => {
    const retry = "onFailure: {retry: {maximumRetries: 2, initialDelay: 60, maximumDelay: 600, backoffMultiplier: 2}}";
    const found = await simulated(
      jobs(job("flaky", "0 12 * * *", retry), job("chain", "0 * * * *", "onlyIfLastSucceeded: true")),
      "--from",
      "2026-03-02T12:00",
      "--to",
      "2026-03-02T13:30",
      "--fail",
      "flaky",
      "--fail",
      "chain",
    );
    expect(lines(found)).toEqual([
      "12:00:00 flaky runs failure",
      "12:00:00 chain runs failure",
      "12:01:00 flaky retried failure",
      "12:03:00 flaky retried failure",
      "13:00:00 chain skipped",
    ]);
    expect(found.entries[3]).toMatchObject({ attempt: 2, why: "retry 2 of 2" });
    expect(found.entries[4]).toMatchObject({ reason: { kind: "last-run-failed" } });
  });

  test("a run ends at its executionTimeout, as a failure", async () => {
    const found = await simulated(
      jobs(job("slow", "0 12 * * *", "executionTimeout: 30")),
      ...day,
      "--duration",
      "slow=60",
    );
    expect(lines(found)).toEqual(["12:00:00 slow runs until 12:00:30 failure"]);
  });

  test("a pooled job waits for its turn; a workflow shows its fires", async () => {
    const found = await simulated(
      withStore(
        `pools:\n  db:\n    slots: 1\ndags:\n  - name: etl\n    schedule: "0 12 * * *"\n    tasks:\n      - id: one\n        command: "true"\n${jobs(job("pooled", "0 12 * * *", "pool: db"))}`,
      ),
      ...day,
    );
    expect(lines(found).toSorted()).toEqual(["12:00:00 dag:etl runs null", "12:00:00 pooled runs"]);
    expect(found.notes).toEqual([]);
  });
});

describe("an outage", () => {
  const down = ["--down", "2026-03-02T01:30..2026-03-02T04:30"];

  test("each onMissed: skipped, made up for once, made up for one by one", async () => {
    const found = await simulated(
      withStore(
        jobs(
          job("skip", "0 * * * *"),
          job("once", "0 * * * *", "onMissed: run-once"),
          job("all", "0 * * * *", "onMissed: run-all"),
        ),
      ),
      ...morning,
      ...down,
    );
    expect(lines(found).slice(6, -3)).toEqual([
      "01:30:00 - daemon stops",
      "02:00:00 skip missed 3 onMissed: skip",
      "02:00:00 once missed 2 coalesced",
      "04:30:00 - daemon starts",
      "04:30:00 once caught up for 04:00:00",
      "04:30:00 all caught up for 02:00:00",
      "04:30:00 all caught up for 03:00:00",
      "04:30:00 all caught up for 04:00:00",
    ]);
    expect(found.totals).toMatchObject({ fires: 9, ran: 9, caught_up: 4, missed: 5 });
  });

  test("startingDeadlineSeconds: older slots stay missed", async () => {
    const found = await simulated(
      withStore(jobs(job("all", "0 * * * *", "onMissed: run-all", "startingDeadlineSeconds: 5400"))),
      ...morning,
      ...down,
    );
    expect(lines(found).slice(2, -1)).toEqual([
      "01:30:00 - daemon stops",
      "02:00:00 all missed 1 startingDeadlineSeconds",
      "04:30:00 - daemon starts",
      "04:30:00 all caught up for 03:00:00",
      "04:30:00 all caught up for 04:00:00",
    ]);
  });

  test("without a state section nothing is caught up, and it is said", async () => {
    const found = await simulated(jobs(job("once", "0 * * * *", "onMissed: run-once")), ...morning, ...down);
    expect(found.entries.find(({ what }) => what === "missed")).toMatchObject({
      slots: 3,
      because: "no state section",
    });
    expect(found.notes[0]).toBe(
      "without a `state` section the daemon remembers nothing over a restart and catches nothing up (onMissed is set on once)",
    );
  });

  test("a first start: a job that never ran has nothing to catch up from", async () => {
    const yaml = withStore(jobs(job("once", "0 3 * * *", "onMissed: run-once")));
    expect(lines(await simulated(yaml, ...morning, ...down))).toContain("04:30:00 once caught up for 03:00:00");
    expect(lines(await simulated(yaml, ...morning, ...down, "--first-start"))).toContain(
      "03:00:00 once missed 1 never ran",
    );
  });

  test("a slot at the instant of the stop is missed, one at the instant of the start is served", async () => {
    const found = await simulated(
      withStore(jobs(job("skip", "0 * * * *"))),
      ...morning,
      "--down",
      "2026-03-02T02:00..2026-03-02T04:00",
    );
    expect(lines(found)).toEqual([
      "00:00:00 skip runs",
      "01:00:00 skip runs",
      "02:00:00 - daemon stops",
      "02:00:00 skip missed 2 onMissed: skip",
      "04:00:00 - daemon starts",
      "04:00:00 skip runs",
      "05:00:00 skip runs",
    ]);
  });

  test("@reboot runs once, whatever number of daemons a boot has", async () => {
    const found = await simulated(
      withStore(jobs(job("boot", "@reboot"))),
      ...morning,
      ...down,
      "--crash",
      "2026-03-02T05:00..2026-03-02T05:10",
    );
    expect(lines(found)).toEqual([
      "00:00:00 boot runs",
      "01:30:00 - daemon stops",
      "04:30:00 - daemon starts",
      "05:00:00 - daemon is killed",
      "05:10:00 - daemon starts",
    ]);
  });

  test("a stop waits for its runs, and the next daemon comes after that", async () => {
    const found = await simulated(
      withStore(jobs(job("long", "0 1 * * *"))),
      ...morning,
      "--down",
      "2026-03-02T01:30..2026-03-02T01:40",
      "--duration",
      "long=7200",
    );
    expect(lines(found)).toEqual([
      "01:00:00 long runs until 03:00:00",
      "01:30:00 - daemon stops",
      "03:00:00 - daemon is gone",
      "03:00:00 - daemon starts",
    ]);
  });

  test("a killed daemon leaves its run behind, and Forbid sees it when the next daemon comes", async () => {
    const found = await simulated(
      withStore(jobs(job("long", "0 * * * *", "concurrencyPolicy: Forbid"))),
      ...morning,
      "--crash",
      "2026-03-02T00:30..2026-03-02T00:40",
      "--duration",
      "long=5400",
    );
    expect(lines(found).slice(0, 5)).toEqual([
      "00:00:00 long runs until 01:30:00 unknown",
      "00:30:00 - daemon is killed",
      "00:40:00 - daemon starts",
      "01:00:00 long skipped",
      "02:00:00 long runs until 03:30:00",
    ]);
  });

  test("a retry that was waiting when the daemon stopped goes on at the next start", async () => {
    const retry =
      "onFailure: {retry: {maximumRetries: 1, initialDelay: 3600, maximumDelay: 3600, backoffMultiplier: 1}}";
    const found = await simulated(
      withStore(jobs(job("flaky", "0 1 * * *", retry))),
      ...morning,
      ...down,
      "--fail",
      "flaky",
    );
    expect(lines(found)).toEqual([
      "01:00:00 flaky runs failure",
      "01:30:00 - daemon stops",
      "04:30:00 - daemon starts",
      "04:30:00 flaky retried failure",
    ]);
  });
});

describe("the answer", () => {
  test("as text: a table, a sum for each job, notes and totals", async () => {
    const { stdout } = await command(
      withStore(jobs(job("backup", "0 2 * * *", "onMissed: run-once"))),
      ...morning,
      "--down",
      "2026-03-02T01:00..2026-03-02T03:00",
      "--zone",
      "Europe/Berlin",
      "--duration",
      "backup=60",
    );
    expect(stdout.split("\n")).toEqual([
      "AT                         JOB     WHAT           ENDS                       WHY",
      "2026-03-02T01:00:00+01:00  -       daemon stops                              SIGTERM; it waits for its runs",
      "2026-03-02T03:00:00+01:00  -       daemon starts                             the same store, the same boot",
      "2026-03-02T03:00:00+01:00  backup  runs           2026-03-02T03:01:00+01:00  schedule",
      "",
      "JOB     FIRES  RAN  CAUGHT UP  RETRIED  FAILED  SKIPPED  MISSED  OVERLAPS  MOST AT ONCE",
      "backup  1      1    0          0        0       0        0       0         1",
      "",
      "note: each job is taken to have run, and succeeded, at its last slot before --from; --first-start says it had not",
      "2026-03-02T00:00:00+01:00 to 2026-03-02T06:00:00+01:00: 1 of 1 jobs; 1 fires: 1 ran; 0 caught up, 0 retried, 0 failed, 0 skipped, 0 missed, 0 overlaps, at most 1 at once",
      "",
    ]);
  });

  test("as JSON", async () => {
    const found = await simulated(
      jobs(job("a", "0 12 * * *"), job("idle", "0 0 1 1 *")),
      "--from",
      "2026-03-02T12:00",
      "--to",
      "2026-03-02T12:01",
    );
    const counts = { fires: 1, ran: 1, retried: 0, failed: 0, overlaps: 0, caught_up: 0, skipped: {}, missed: 0 };
    expect(found).toEqual({
      from: "2026-03-02T12:00:00+00:00",
      to: "2026-03-02T12:01:00+00:00",
      timezone: "UTC",
      complete: true,
      entries: [
        {
          at: "2026-03-02T12:00:00+00:00",
          job: "a",
          what: "runs",
          why: "schedule",
          trigger: "schedule",
          slot: "2026-03-02T12:00:00+00:00",
          attempt: 0,
          ends_at: "2026-03-02T12:00:00+00:00",
          outcome: "success",
          overlaps: 0,
        },
      ],
      jobs: [{ name: "a", ...counts, missed_at_least: false, most_at_once: 1 }],
      idle_jobs: ["idle"],
      totals: { ...counts, missed_at_least: false, most_at_once: 1 },
      notes: [],
    });
  });

  test("--job leaves the others out", async () => {
    const found = await simulated(jobs(job("a", "0 12 * * *"), job("b", "0 12 * * *")), ...day, "--job", "b");
    expect(lines(found)).toEqual(["12:00:00 b runs"]);
  });

  test("too much is cut, and it is said where and what to ask for instead", async () => {
    const from = Date.parse("2026-03-02T00:00:00Z");
    const simulation: Simulation = {
      config: configOf([jobConfig({ name: "each-minute" })]),
      from,
      to: from + 86_400_000,
      outages: [],
      isFirstStart: false,
      firesMax: 30,
      pretend: () => ({ lastsMs: 0, fails: false }),
    };
    const transcript = await simulate(simulation);
    const answer = answerOf({ simulation, transcript, account: accountOf(simulation, transcript), zone: utcZone });
    expect(answer).toMatchObject({
      complete: false,
      to: "2026-03-02T00:29:00+00:00",
      totals: { fires: 30 },
      notes: [
        "stopped at 2026-03-02T00:29:00+00:00: after 30 runs and skipped slots; ask for less time (--from, --to) or fewer jobs (--job)",
      ],
    });
  });
});

describe("what cannot be simulated is refused by the name of its option", () => {
  const yaml = jobs(job("backup", "0 2 * * *"));

  test.each([
    [["--zone", "Mars/Base"], "--zone: there is no time zone 'Mars/Base'; give an IANA name, e.g. Europe/Berlin"],
    [
      ["--from", "soon"],
      "--from: 'soon' is not a time; write ISO 8601, e.g. 2026-07-14, 2026-07-14T09:00 or 2026-07-14T09:00:00+02:00",
    ],
    [["--from", "1890-01-01"], "--from: 1890-01-01 is outside the years 1970 to 2099, for which schedules are known"],
    [
      ["--from", "2026-03-02", "--to", "2026-03-01"],
      "--to: 2026-03-01T00:00:00+00:00 is not after --from, 2026-03-02T00:00:00+00:00",
    ],
    [
      ["--from", "2026-03-02", "--to", "2027-03-04"],
      "--to: at most 366 days are simulated; from 2026-03-02T00:00:00+00:00 that is 2027-03-03T00:00:00+00:00",
    ],
    [[...day, "--down", "noon"], "--down: 'noon' is not FROM..TO, e.g. 2026-07-14T09:00..2026-07-14T12:00"],
    [
      [...day, "--down", "2026-03-02T03:00..2026-03-02T02:00"],
      "--down: in '2026-03-02T03:00..2026-03-02T02:00' the daemon comes back before it goes; write the earlier time first",
    ],
    [
      [...day, "--crash", "2026-03-04..2026-03-05"],
      "--crash: '2026-03-04..2026-03-05' begins outside the simulated time, 2026-03-02T00:00:00+00:00 to 2026-03-03T00:00:00+00:00",
    ],
    [
      [...day, "--down", "2026-03-02T01:00..2026-03-02T03:00", "--crash", "2026-03-02T02:00..2026-03-02T04:00"],
      "--down and --crash: '2026-03-02T02:00..2026-03-02T04:00' begins before the daemon is back from '2026-03-02T01:00..2026-03-02T03:00'; make them one, or apart",
    ],
    [["--fail", "bakup"], "--fail: there is no job 'bakup' in the configuration; did you mean backup?"],
    [["--duration", "other=5"], "--duration: there is no job 'other' in the configuration"],
    [
      ["--duration", "backup=long"],
      "--duration: 'backup=long' is not JOB=SECONDS, nor SECONDS for all other jobs, e.g. backup=90; at most 31622400 seconds",
    ],
    [["--job", "x"], "--job: there is no job 'x' in the configuration"],
  ])("%j", async (args, message) => {
    const { code, stdout, stderr } = await command(yaml, ...args);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: `usage: cronstable simulate [options]\ncronstable simulate: error: ${message}\n`,
    });
  });

  test("a configuration that cannot be used", async () => {
    const { code, stderr } = await command(jobs(job("bad", "61 * * * *")));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^cronstable simulate: Configuration error: .*jobs\.yaml:4:/);
  });
});

test("thousands of jobs for a day take seconds", async () => {
  const many = Array.from({ length: 3000 }, (_, index) => job(`job${index}`, "H H * * *"));
  const began = process.cpuUsage();
  const found = await simulated(jobs(...many), ...day);
  const { user } = process.cpuUsage(began);
  expect(found.totals).toMatchObject({ fires: 3000, ran: 3000 });
  expect(user / 1e6).toBeLessThan(20);
}, 120_000);

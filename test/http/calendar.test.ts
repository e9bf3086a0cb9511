import ical from "ical.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { utcZone, zoneNamed } from "../../src/schedule/zone.ts";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode, token, type WebNode } from "../support/web-node.ts";

const timed = (name: string, text: string, zone = utcZone, enabled = true) =>
  jobConfig({
    name,
    scheduleText: text,
    enabled,
    timing: { kind: "timetable", schedule: parseSchedule(text, name), zone },
  });
const long =
  "a name, with; marks \\ and ünïcödé, that goes on for much longer than the seventy-five octets of one line";

let node: WebNode;
beforeAll(async () => {
  const newYork = zoneNamed("America/New_York") ?? utcZone;
  node = await startWebNode({
    at: "2026-11-30T08:49:05Z",
    jobs: [
      timed("daily", "30 9 * * *", newYork),
      timed(long, "0 12 * * *"),
      timed("off", "0 * * * *", utcZone, false),
      timed("dead", "0 0 1 1 * 2020"),
    ],
  });
});
afterAll(() => node.stop());

async function events(path: string) {
  const { text, headers } = await node.get(path);
  expect(headers["content-type"]).toBe("text/calendar; charset=utf-8");
  expect(headers["content-disposition"]).toBe('inline; filename="cronstable.ics"');
  const calendar = new ical.Component(ical.parse(text));
  return calendar.getAllSubcomponents("vevent").map((component) => {
    const event = new ical.Event(component);
    return {
      name: event.summary,
      at: event.startDate.toJSDate().toISOString(),
      minutes: event.duration.toSeconds() / 60,
      id: event.uid,
      about: event.description,
    };
  });
}

test("an independent reader finds the fires of all jobs, sorted by name", async () => {
  const found = await events("/calendar.ics?days=2");
  expect(found.map(({ name, at, minutes }) => [name, at, minutes])).toEqual([
    [long, "2026-11-30T12:00:00.000Z", 5],
    [long, "2026-12-01T12:00:00.000Z", 5],
    ["daily", "2026-11-30T14:30:00.000Z", 5],
    ["daily", "2026-12-01T14:30:00.000Z", 5],
  ]);
  expect(found[2]?.about).toBe("Schedule: 30 9 * * *\nAt 09:30, every day\nTimezone: America/New_York");
  expect(await events("/calendar.ics?days=2")).toEqual(found);
});

test("limits and windows are bounded, jobs without fires have an empty calendar", async () => {
  expect(await events("/jobs/daily/calendar.ics")).toHaveLength(14);
  expect(await events("/jobs/daily/calendar.ics?days=0")).toHaveLength(1);
  expect(await events("/jobs/daily/calendar.ics?days=99&limit=7")).toHaveLength(7);
  expect(await events("/jobs/daily/calendar.ics?per_job=3")).toHaveLength(3);
  expect(await events("/jobs/daily/calendar.ics?limit=x&per_job=3")).toHaveLength(14);
  for (const name of ["off", "dead"]) expect(await events(`/jobs/${name}/calendar.ics`)).toEqual([]);
  const { status, json } = await node.get("/jobs/nope/calendar.ics");
  expect([status, json()]).toEqual([404, { error: "no job or DAG schedule named 'nope'" }]);
});

test("how long runs take is how long events are drawn", async () => {
  await node.post("/jobs/daily/start");
  await node.until("2026-11-30T09:59:05Z");
  node.run("daily").exit(0);
  expect((await events("/jobs/daily/calendar.ics?limit=1"))[0]?.minutes).toBe(70);
});

test("calendar apps have no headers: a token may stand in the query, there and only there (acceptance 16)", async () => {
  const closed = await startWebNode({
    jobs: [timed("daily", "30 9 * * *")],
    web: { authTokens: [token("s3cret", ["view"])] },
  });
  for (const [path, status] of [
    ["/calendar.ics?token=s3cret", 200],
    ["/jobs/daily/calendar.ics?token=s3cret", 200],
    ["/calendar.ics?token=wrong", 401],
    ["/calendar.ics?token=", 401],
    ["/calendar.ics", 401],
    ["/schedule/duplicates?token=s3cret", 401],
    ["/jobs?token=s3cret", 401],
  ] as const)
    expect({ path, status: (await closed.get(path)).status }).toEqual({ path, status });
  expect((await closed.get("/calendar.ics?token=s3cret", { authorization: "Basic x" })).status).toBe(200);
  expect((await closed.get("/calendar.ics?token=s3cret", { authorization: "Bearer wrong" })).status).toBe(401);
  await closed.stop();
});

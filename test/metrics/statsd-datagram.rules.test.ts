import { expect, test } from "vitest";
import { startDatagram, stopDatagram } from "../../src/metrics/statsd-datagram.rules.ts";

const resources = { cpuUserSeconds: 0.0301, cpuSystemSeconds: 0.0152, maxRssBytes: 3_690_496, samples: 4, series: [] };

test("a start is one line", () => {
  expect(startDatagram("my.prefix")).toBe("my.prefix.start:1|g\n");
});

test("an end is told in one datagram", () => {
  expect(stopDatagram("e", { success: true, durationMs: 3214.6, resources: null })).toBe(
    "e.stop:1|g\ne.success:1|g\ne.duration:3215|ms\n",
  );
  expect(stopDatagram("e", { success: false, durationMs: 0.2, resources: null })).toBe(
    "e.stop:1|g\ne.success:0|g\ne.duration:0|ms\n",
  );
});

test("a monitored run adds what it used, in whole milliseconds and bytes", () => {
  expect(stopDatagram("res", { success: true, durationMs: 3215, resources })).toBe(
    "res.stop:1|g\nres.success:1|g\nres.duration:3215|ms\nres.cpu:45|ms\nres.max_rss:3690496|g\n",
  );
});

test("characters with a meaning in the format are removed from the prefix", () => {
  expect(startDatagram("a:b|c\r\n.ok")).toBe("abc.ok.start:1|g\n");
  expect(stopDatagram("x\n:1|g", { success: true, durationMs: 1, resources: null })).toBe(
    "x1g.stop:1|g\nx1g.success:1|g\nx1g.duration:1|ms\n",
  );
});

import { expect, test } from "vitest";
import { streamPrefix } from "../../../src/execution/capture/stream-prefix.ts";

test.each([
  ["[{job_name} {stream_name}] ", "[backup $& stderr] "],
  ["", ""],
  ["{{{job_name}}}: ", "{backup $&}: "],
  ["{{job_name}} ", "{job_name} "],
  ["{stream_name}{stream_name}", "stderrstderr"],
])("%j gives %j", (template, prefix) => {
  expect(streamPrefix(template, "backup $&", "stderr")).toBe(prefix);
});

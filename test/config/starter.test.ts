import { expect, test } from "vitest";
import { starterFileName, starterText } from "../../src/config/starter.ts";
import { configOf, onlyJob } from "./loading.ts";

test("the starter file loads as it is: one job, every five minutes", () => {
  const config = configOf(starterText, {}, starterFileName);
  expect(onlyJob(config)).toMatchObject({ name: "hello", scheduleText: "*/5 * * * *" });
  expect(config.web).toBeNull();
  expect(config.warnings).toEqual([]);
});

test("what the starter file shows in comments loads too", () => {
  const uncommented = starterText.replace(
    /^( *)# (?=( *)(?:onFailure|retry|maximum|initial|backoff|report|mail|from|to|smtp|timezone|execution|concurrency|defaults|web|listen|- http))/gm,
    "$1",
  );
  const config = configOf(uncommented, {}, starterFileName);
  expect(onlyJob(config)).toMatchObject({
    timezone: "Europe/Berlin",
    concurrencyPolicy: "Forbid",
    retry: { maximumRetries: 3 },
    launch: { executionTimeoutSeconds: 60 },
  });
  expect(config.web?.listen).toEqual(["http://127.0.0.1:8080"]);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { openFilesystemStore } from "../../src/store/filesystem/open.ts";
import { aRun, startEndpoint } from "../support/job-api.ts";
import { logLines } from "../support/log-lines.ts";
import { scriptOf } from "../support/wire.ts";
import { referenceStore } from "./reference-store.ts";

/** A run of `job` on the sample store that the reference implementation wrote. */
async function runOn(
  deploymentId: string,
  job: string,
  use: (script: ReturnType<typeof scriptOf>, base: string) => Promise<void>,
) {
  const path = join(referenceStore(), "store");
  const { log } = logLines();
  const options = { path, deploymentId, topology: "auto", maxOpsPerSecond: 0, clock: systemClock, log } as const;
  const opened = await openFilesystemStore(options);
  if (opened.kind !== "done") throw new Error(JSON.stringify(opened));
  const api = await startEndpoint({ store: opened.value });
  try {
    await use(scriptOf((await api.register(aRun({ name: job }))).environment), opened.value.facts.location);
  } finally {
    await api.stop();
    await opened.value.close(1000);
  }
}

test("a job finds what it kept with the reference implementation", () =>
  runOn("Demo.App", "state-user", async (script) => {
    expect(await script.ask("GET", "/v1/kv/get?key=config")).toMatch(
      /^200 \{"value": \{"big": 9007199254740993, "e": 1e\+16, "f": 1\.0, "n": 3, "s": "\\u00e9", "u64": 18446744073709551615\}, "updatedAt": 17960\d+\.\d+\}$/,
    );
    expect(await script.ask("GET", "/v1/kv/get?key=nothing")).toMatch(/^200 \{"value": null, /);
    const { keys } = JSON.parse((await script.send("GET", "/v1/kv/list")).text);
    expect(keys.map(({ key }: { key: string }) => key)).toEqual(["config", "last-cursor", "nothing"]);
    expect(await script.ask("GET", "/v1/kv/get?key=Shared.Key&scope=global")).toMatch(/^200 /);
    expect(await script.ask("GET", "/v1/kv/get?key=team-key&scope=team")).toMatch(/^403 /);
    expect(await script.ask("GET", "/v1/cursor/get?name=watermark")).toMatch(/^200 \{"value": 10, /);
    expect(await script.ask("POST", "/v1/cursor/advance", '{"name":"watermark","value":9}')).toBe(
      '200 {"value": 10, "advanced": false}',
    );
    expect(await script.ask("GET", "/v1/cursor/get?name=fl")).toMatch(/^200 \{"value": 1\.5, /);
    expect(await script.ask("POST", "/v1/idempotency/claim", '{"key":"charge-1"}')).toMatch(/^200 \{"fresh": false, /);
    expect(await script.ask("GET", "/v1/artifact/get?name=report")).toBe("200 payload-2\n");
  }));

test("a document is written as the reference writes it", () =>
  runOn("Demo.App", "state-user", async (script, base) => {
    await script.ask("POST", "/v1/kv/set", '{"key":"Mine","value":{"z":1.0,"a":"é","big":18446744073709551615}}');
    const text = readFileSync(join(base, "docs/kv%2Fstate-user/%4Dine.doc"), "utf8");
    expect(text.replace(/"updatedAt":\d+\.\d+/, '"updatedAt":0.0')).toBe(
      '{"data":{"key":"Mine","updatedAt":0.0,"value":{"a":"\\u00e9","big":18446744073709551615,"z":1.0}},"schemaVersion":"v1"}',
    );
  }));

test("what cannot be understood reads as absent, is not overwritten, and its file stays", () =>
  runOn("poison", "victim", async (script, base) => {
    const unavailable = '503 {"error": "state backend unavailable; the reason is in the cronstable log"}';
    expect(await script.ask("GET", "/v1/kv/get?key=good")).toMatch(/^200 /);
    for (const key of ["torn", "newer"]) {
      const file = join(base, `docs/kv%2Fvictim/${key}.doc`);
      const before = readFileSync(file);
      expect(await script.ask("GET", `/v1/kv/get?key=${key}`)).toMatch(/^404 /);
      expect(await script.ask("POST", "/v1/kv/set", JSON.stringify({ key, value: 1 }))).toBe(unavailable);
      expect(readFileSync(file)).toEqual(before);
    }
    expect(await script.ask("GET", "/v1/artifact/get?name=report")).toBe("200 old payload\n");
    expect(await script.ask("GET", "/v1/artifact/get?name=gone")).toMatch(/^410 /);
  }));

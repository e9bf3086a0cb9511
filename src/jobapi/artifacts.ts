import type { Clock } from "../platform/clock.ts";
import { compareCodePoints, type JsonObject, type JsonValue, jsonFloat } from "../store/json.ts";
import type { Store } from "../store/store.ts";
import { json, type Routes } from "./call.ts";
import { Refusal } from "./refusal.ts";
import { requiredText } from "./request-fields.ts";
import { allowedScope } from "./scopes.ts";
import type { StoreTrouble } from "./store-trouble.ts";

interface ArtifactParts {
  readonly store: Pick<Store, "records" | "blobs">;
  readonly trouble: StoreTrouble;
  readonly clock: Clock;
  /** 0 for no limit. */
  readonly artifactBytesMax: number;
}

/** Payloads under a name, stored once per content; the newest version of a name wins (ART-1). */
export function artifactRoutes({ store: { records, blobs }, trouble, clock, artifactBytesMax }: ArtifactParts): Routes {
  return {
    "/v1/artifact/put": {
      method: "POST",
      async handle(call) {
        const name = requiredText(call.query.get("name"), "name");
        const scope = allowedScope(call.run, call.query.get("scope"));
        const bytes = await call.bytes();
        const size = bytes.length;
        if (artifactBytesMax > 0 && size > artifactBytesMax)
          throw new Refusal(413, `artifact of ${size} bytes exceeds the configured limit of ${artifactBytesMax} bytes`);
        // The payload first: a record must never point at what is not there (ART-2).
        const sha256 = trouble.valueOf(await blobs.put(bytes));
        const at = jsonFloat(clock.wallNow() / 1000);
        trouble.valueOf(await records.publish(streamOf(scope), "name", { at, name, sha256, size }));
        return json({ sha256, size });
      },
    },
    "/v1/artifact/get": {
      method: "GET",
      async handle({ run, query }) {
        const name = requiredText(query.get("name"), "name");
        const scope = allowedScope(run, query.get("scope"));
        const versions = trouble.valueOf(
          await records.newestByKey(streamOf(scope), "name", { key: name, reading: "tolerant" }),
        );
        const sha256 = versions[0]?.data.sha256;
        if (typeof sha256 !== "string") throw new Refusal(404, `artifact '${name}' not found in scope '${scope}'`);
        const bytes = trouble.valueOf(await blobs.get(sha256));
        if (bytes === null)
          throw new Refusal(410, `artifact '${name}' record survives but its payload blob is gone (garbage collected)`);
        const headers = { "X-Cronstable-Sha256": sha256, "X-Cronstable-Size": String(bytes.length) };
        return { kind: "bytes", bytes, headers };
      },
    },
    "/v1/artifact/list": {
      method: "GET",
      async handle({ run, query }) {
        const scope = allowedScope(run, query.get("scope"));
        const newest = trouble.valueOf(await records.newestByKey(streamOf(scope), "name", { reading: "tolerant" }));
        const artifacts = newest.flatMap(({ data }) => listed(data));
        return json({ scope, artifacts: artifacts.sort((a, b) => compareCodePoints(a.name, b.name)) });
      },
    },
  };
}

function streamOf(scope: string): string {
  return `artifacts/${scope}`;
}

interface Listed extends JsonObject {
  readonly name: string;
  readonly sha256: JsonValue;
  readonly size: JsonValue;
  readonly at: JsonValue;
}

/** Nothing for a record that is none of ours. */
function listed({ name, sha256 = null, size = null, at = null }: JsonObject): Listed[] {
  return typeof name === "string" ? [{ name, sha256, size, at }] : [];
}

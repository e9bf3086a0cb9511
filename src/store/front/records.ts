import { setImmediate } from "node:timers/promises";
import type { Row } from "../engine.ts";
import { decodeEnvelope, encodeEnvelope } from "../envelope.ts";
import type { Executor } from "../executor.ts";
import type { JsonValue } from "../json.ts";
import { parseJson } from "../json-text.ts";
import { DECODE_SLICE_CHARS, LIST_LIMIT_MAX } from "../limits.ts";
import { writtenAtSeconds } from "../record-id.ts";
import type { Outcome, Records, StoredRecord } from "../store.ts";
import { type Call, notPortable, whenDone } from "./call.ts";

export function recordsOver(call: Call, learn: Executor["learn"]): Records {
  return {
    async append(stream, data, options) {
      const encoded = encodeEnvelope(data);
      if (encoded.kind === "not portable") return notPortable(encoded);
      return call("append", { stream, text: encoded.text, keep: options?.keep ?? null }, options);
    },

    async publish(stream, field, data, options) {
      const key = data[field];
      if (typeof key !== "string") return notPortable({ kind: "not portable", problem: `${field} is not a text` });
      const encoded = encodeEnvelope(data);
      if (encoded.kind === "not portable") return notPortable(encoded);
      const outcome = await call("publish", { stream, field, key, text: encoded.text }, options);
      if (outcome.kind === "done") learn("read", { kind: "published", stream, key, id: outcome.value.id });
      return outcome;
    },

    async list(stream, query) {
      const { order, limit, reading } = query;
      const args = { stream, newestFirst: order === "newest first", limit: Math.min(limit, LIST_LIMIT_MAX), reading };
      return decoded(await call("listRecords", args, query));
    },

    async newestByKey(stream, field, query) {
      const { key, reading } = query;
      const outcome = await call("newestByKey", { stream, field, key: key ?? null, reading }, query);
      if (outcome.kind !== "done") return outcome;
      const { rows, highestId } = outcome.value;
      if (highestId !== null) learn("write", { kind: "seen", stream, id: highestId });
      return decoded({ kind: "done", value: rows });
    },

    async max(stream, field, options) {
      const outcome = await call("maxOfField", { stream, field }, options);
      return whenDone(outcome, (text): JsonValue => (text === null ? null : parseJson(text)));
    },

    async prune(stream, keep, options) {
      const outcome = await call("prune", { stream, keep }, options);
      if (keep <= 0) learn("read", { kind: "emptied", stream });
      return outcome;
    },

    streams: (prefix, options) => call("streamNames", { prefix }, options),
  };
}

/** Texts to values, in slices: a long listing must not keep the event loop from anything else. */
async function decoded(outcome: Outcome<readonly Row[]>): Promise<Outcome<readonly StoredRecord[]>> {
  if (outcome.kind !== "done") return outcome;
  const records: StoredRecord[] = [];
  let sliceChars = 0;
  for (const { id, text } of outcome.value) {
    const found = decodeEnvelope(text);
    if (found.kind === "current") records.push({ id, writtenAtSeconds: writtenAtSeconds(id), data: found.data });
    sliceChars += text.length;
    if (sliceChars < DECODE_SLICE_CHARS) continue;
    sliceChars = 0;
    await setImmediate();
  }
  return { kind: "done", value: records };
}

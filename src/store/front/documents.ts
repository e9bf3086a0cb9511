import type { DocumentText } from "../engine.ts";
import { decodeEnvelope, encodeEnvelope, writtenEntries } from "../envelope.ts";
import type { JsonObject } from "../json.ts";
import type { Encoded } from "../json-text.ts";
import { DOCUMENT_ATTEMPTS_MAX, OPERATION_DEADLINE_MS, REMEMBERED_DOCUMENTS_MAX } from "../limits.ts";
import { recentlyUsed } from "../recently-used.ts";
import type { Change, DocumentState, Documents, Outcome, Patience, Swap } from "../store.ts";
import { type Call, done, notPortable, whenDone } from "./call.ts";
import { oneAtATime } from "./one-at-a-time.ts";

export function documentsOver(call: Call, elapsedNow: () => number): Documents {
  const inTurn = oneAtATime();
  const lastKnown = recentlyUsed<string, DocumentState>(REMEMBERED_DOCUMENTS_MAX);
  const entries = writtenEntries();

  const read: Documents["read"] = async (namespace, key, options) =>
    whenDone(await call("readDocument", { namespace, key }, options), documentState);

  const swapText = async (
    { namespace, key }: { readonly namespace: string; readonly key: string },
    version: string | null,
    encoded: Encoded | null,
    options: Patience | undefined,
  ): Promise<Outcome<Swap>> => {
    if (encoded?.kind === "not portable") return notPortable(encoded);
    const outcome = await call("swapDocument", { namespace, key, version, text: encoded?.text ?? null }, options);
    return whenDone(
      outcome,
      (answer): Swap =>
        answer.swapped
          ? { kind: "swapped", version: answer.version }
          : { kind: "conflict", current: documentState(answer.current) },
    );
  };

  /**
   * With `remember` it begins with what this process wrote or read last, which is as good as a read for a decision to write: the swap fails if
   * the document is another one by now. That it be left alone only the document itself can say.
   *
   * @param untilMs on the elapsed clock: the attempts share one deadline
   */
  const attempts = async <T>(
    namespace: string,
    key: string,
    decide: (body: JsonObject | null) => Change<T>,
    untilMs: number,
    remember: boolean,
  ): Promise<Outcome<T>> => {
    const left = () => ({ deadlineMs: untilMs - elapsedNow() });
    const id = `${namespace}\0${key}`;
    const remembered = remember ? lastKnown.get(id) : undefined;
    lastKnown.delete(id); // until it is known what the document has become
    let current = remembered;
    for (let attempt = 0; attempt < DOCUMENT_ATTEMPTS_MAX; attempt++) {
      if (current === undefined) {
        const found = await read(namespace, key, left());
        if (found.kind !== "done") return found;
        current = found.value;
      }
      const change = decide(current.body);
      if (change.kind === "keep" || (change.kind === "delete" && current.body === null)) {
        if (current !== remembered) {
          if (remember) lastKnown.set(id, current);
          return done(change.answer);
        }
        current = undefined;
        continue;
      }
      const body = change.kind === "put" ? change.body : null;
      const encoded = body === null ? null : encodeEnvelope(body, remember ? entries : null);
      const swapped = await swapText({ namespace, key }, current.version, encoded, left());
      if (swapped.kind !== "done") return swapped;
      if (swapped.value.kind === "swapped") {
        if (remember && body !== null) lastKnown.set(id, { body, version: swapped.value.version });
        return done(change.answer);
      }
      current = swapped.value.current;
    }
    const message = `document ${key} in ${namespace} changed ${DOCUMENT_ATTEMPTS_MAX} times while it was being changed`;
    return { kind: "failed", failure: { reason: "contended", message } };
  };

  return {
    read,
    swap: (namespace, key, version, body, options) =>
      swapText({ namespace, key }, version, body === null ? null : encodeEnvelope(body), options),
    peek: async (namespace, key, options) => whenDone(await call("peekDocument", { namespace, key }, options), bodyOf),
    mutate: (namespace, key, decide, options) => {
      const untilMs = elapsedNow() + (options?.deadlineMs ?? OPERATION_DEADLINE_MS);
      const remember = options?.remember ?? false;
      return inTurn(`${namespace}\0${key}`, () => attempts(namespace, key, decide, untilMs, remember));
    },
    list: async (namespace, options) =>
      whenDone(await call("listDocuments", { namespace }, options), (texts) =>
        texts.map(bodyOf).filter((body) => body !== null),
      ),
    keys: (namespace, options) => call("documentKeys", { namespace }, options),
    namespaces: (prefix, options) => call("namespaceNames", { prefix }, options),
  };
}

function documentState({ text, version }: DocumentText): DocumentState {
  return { body: bodyOf(text), version };
}

/** The engine has judged the text: what is not null here is a sound envelope. */
function bodyOf(text: string | null): JsonObject | null {
  const decoded = text === null ? null : decodeEnvelope(text);
  return decoded?.kind === "current" ? decoded.data : null;
}

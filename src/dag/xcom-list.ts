import type { Logger } from "../contract/log.ts";
import { type Backend, onBackend } from "../journal/backend.ts";
import { failureText } from "../journal/drops.ts";
import { plainJson } from "../store/json.ts";
import type { Outcome } from "../store/store.ts";
import { type FanOutList, isFetchable, type JudgedList, judgeList, type PublishedList } from "./fan-out-list.rules.ts";
import { judgeAside } from "./large-list.ts";
import { FAN_OUT_INLINE_BYTES_MAX } from "./limits.ts";
import type { AwaitedList } from "./pass.ts";
import { xcomStream } from "./run-key.rules.ts";
import type { RunRef } from "./run-store.ts";

/**
 * Reads the list a mapped task is to be made of, strictly: a store that cannot answer leaves it unknown, whatever `onStoreUnavailable`
 * says (D-MAP-6).
 *
 * @returns null when it is not known; said in the log, and to be asked again
 */
export async function readXcomList(
  { backend, log }: { readonly backend: Backend; readonly log: Logger },
  { dag, runKey, runId }: RunRef & { readonly runId: string },
  { fromTask, key, taskId }: AwaitedList,
): Promise<FanOutList | null> {
  const published = await readPublished(backend, xcomStream(dag, runId), `${fromTask}/${key}`);
  const unknown = (why: string): null => {
    log.warning(
      `dag ${dag}: xcom '${key}' from '${fromTask}' could not be read (${why}); leaving the task unexpanded to retry`,
    );
    return null;
  };
  if (published.kind !== "done") return unknown(failureText(published));
  let judged: JudgedList;
  try {
    judged = await judge(published.value);
  } catch (error) {
    return unknown(error instanceof Error ? error.message : String(error)); // the thread died
  }
  const { list, problem } = judged;
  if (problem !== null) {
    log.warning(
      `dag ${dag}: run ${runKey}: xcom '${key}' from '${fromTask}' gives task '${taskId}' no items: ${problem}; it counts as done`,
    );
  }
  return list;
}

async function judge(published: PublishedList): Promise<JudgedList> {
  const isLarge = published.kind === "payload" && published.bytes.length >= FAN_OUT_INLINE_BYTES_MAX;
  return isLarge ? judgeAside(published.bytes) : judgeList(published);
}

/** The newest version under the name, and its payload (8.2). Leaving records are the store's to deal with: it lists again. */
async function readPublished(backend: Backend, stream: string, name: string): Promise<Outcome<PublishedList>> {
  const versions = await onBackend(backend, ({ records }) =>
    records.newestByKey(stream, "name", { key: name, reading: "strict" }),
  );
  if (versions.kind !== "done") return versions;
  const [newest] = versions.value;
  if (newest === undefined) return { kind: "done", value: { kind: "absent" } };
  const { sha256, size } = newest.data;
  const bytes = plainJson(size ?? null);
  if (typeof bytes === "number" && !isFetchable(bytes)) return { kind: "done", value: { kind: "too large", bytes } };
  if (typeof sha256 !== "string") return { kind: "done", value: { kind: "gone" } };
  const payload = await onBackend(backend, ({ blobs }) => blobs.get(sha256));
  if (payload.kind !== "done") return payload;
  return { kind: "done", value: payload.value === null ? { kind: "gone" } : { kind: "payload", bytes: payload.value } };
}

import { Worker } from "node:worker_threads";
import { workerEntry } from "../platform/worker-entry.ts";
import { isArray } from "../store/json.ts";
import { encodeJson, parseJson } from "../store/json-text.ts";
import type { JudgedList } from "./fan-out-list.rules.ts";

/** A judged list on its way between threads. */
type SentList =
  | { readonly kind: "items"; readonly text: string; readonly problem: string | null }
  | { readonly kind: "too many"; readonly count: number; readonly problem: string | null };

export function sentList({ list, problem }: JudgedList): SentList {
  if (list.kind === "too many") return { ...list, problem };
  const encoded = encodeJson(list.items);
  return encoded.kind === "text"
    ? { kind: "items", text: encoded.text, problem }
    : { kind: "items", text: "[]", problem: encoded.problem };
}

/** Judges a list in a thread of its own. Rejects when the thread dies. */
export function judgeAside(bytes: Uint8Array): Promise<JudgedList> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workerEntry("fan-out-list", import.meta.url), { workerData: bytes });
    worker.once("message", (sent: SentList) => {
      resolve(receivedList(sent));
      void worker.terminate();
    });
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the thread that reads the list ended with ${code}`)));
  });
}

function receivedList(sent: SentList): JudgedList {
  if (sent.kind === "too many") return { list: { kind: "too many", count: sent.count }, problem: sent.problem };
  const items = parseJson(sent.text);
  return { list: { kind: "items", items: isArray(items) ? items : [] }, problem: sent.problem };
}

/** Judges a large list beside the daemon (8.2 step 5). Its items go back as text: what tells 1 from 1.0 does not survive the way as it is. */
import { parentPort, workerData } from "node:worker_threads";
import { judgeList } from "./fan-out-list.rules.ts";
import { sentList } from "./large-list.ts";

parentPort?.postMessage(sentList(judgeList({ kind: "payload", bytes: workerData as Uint8Array })));

import { parentPort } from "node:worker_threads";
import { type OutputText, redactLines } from "./redaction.rules.ts";

parentPort?.on("message", (lines: readonly OutputText[]) => parentPort?.postMessage(redactLines(lines)));

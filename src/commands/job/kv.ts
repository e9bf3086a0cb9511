import { kvDelete, kvGet, kvList, kvSet } from "../../client/job/calls.ts";
import type { JsonValue } from "../../store/json.ts";
import { BadJson, parseJson } from "../../store/json-text.ts";
import { Refusal } from "../errors.ts";
import { exitCode, type JobFamily, operand, scopeFlags, scopeOf } from "./job-command.ts";
import { valueText } from "./value-text.ts";

/** `cronstable state get|set|delete|keys`: the job's map (KV-1). */
export const kvFamily: JobFamily = {
  word: "state",
  commands: [
    {
      action: "get",
      summary: "print the value of a key (in a job)",
      operands: [{ name: "key" }],
      flags: scopeFlags,
      async run(args, { endpoint, print, complain }) {
        const key = operand(args);
        const value = await kvGet(endpoint(), scopeOf(args), key);
        if (value === undefined) {
          complain(`key not found: ${key}`);
          return exitCode.absent;
        }
        print(valueText(value));
        return exitCode.ok;
      },
    },
    {
      action: "set",
      summary: "store a value under a key (in a job)",
      operands: [{ name: "key" }, { name: "value" }],
      flags: [{ name: "json", summary: "the value is JSON, not a text" }, ...scopeFlags],
      async run(args, { endpoint }) {
        const text = operand(args, 1);
        const to = endpoint();
        await kvSet(to, scopeOf(args), operand(args), args.flags.has("json") ? fromJson(text) : text);
        return exitCode.ok;
      },
    },
    {
      action: "delete",
      summary: "delete a key (in a job)",
      operands: [{ name: "key" }],
      flags: scopeFlags,
      async run(args, { endpoint }) {
        const existed = await kvDelete(endpoint(), scopeOf(args), operand(args));
        return existed ? exitCode.ok : exitCode.absent;
      },
    },
    {
      action: "keys",
      summary: "list the keys that are set, one per line (in a job)",
      operands: [],
      flags: scopeFlags,
      async run(args, { endpoint, print }) {
        for (const { key } of await kvList(endpoint(), scopeOf(args))) print(String(key));
        return exitCode.ok;
      },
    },
  ],
};

function fromJson(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof BadJson) throw new Refusal(`--json was given but VALUE is not valid JSON: ${error.message}`);
    throw error;
  }
}

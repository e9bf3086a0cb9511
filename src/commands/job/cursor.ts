import { cursorAdvance, cursorGet } from "../../client/job/calls.ts";
import { exitCode, type JobFamily, operand, scopeFlags, scopeOf } from "./job-command.ts";
import { cursorValue, valueText } from "./value-text.ts";

/** `cronstable cursor get|advance`: a watermark that only grows (CUR-1). */
export const cursorFamily: JobFamily = {
  word: "cursor",
  commands: [
    {
      action: "get",
      summary: "print where a cursor is",
      operands: [{ name: "name" }],
      flags: scopeFlags,
      async run(args, { endpoint, print, complain }) {
        const name = operand(args);
        const value = await cursorGet(endpoint(), scopeOf(args), name);
        if (value === undefined) {
          complain(`cursor not set: ${name}`);
          return exitCode.absent;
        }
        print(valueText(value));
        return exitCode.ok;
      },
    },
    {
      action: "advance",
      summary: "move a cursor forward and print where it is now",
      operands: [{ name: "name" }, { name: "value" }],
      flags: [{ name: "force", summary: "set it even if that moves it back" }, ...scopeFlags],
      async run(args, { endpoint, print }) {
        const value = cursorValue(operand(args, 1));
        const force = args.flags.has("force");
        const answer = await cursorAdvance(endpoint(), scopeOf(args), operand(args), value, force);
        print(valueText(answer.value));
        return exitCode.ok;
      },
    },
  ],
};

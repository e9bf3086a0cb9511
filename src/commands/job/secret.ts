import { secretGet, secretList } from "../../client/job/calls.ts";
import { exitCode, type JobFamily, operand } from "./job-command.ts";

/** `cronstable secret get|list`: what is staged for this run alone (SEC-1). */
export const secretFamily: JobFamily = {
  word: "secret",
  commands: [
    {
      action: "get",
      summary: "print the value of a secret",
      operands: [{ name: "name" }],
      flags: [],
      async run(args, { endpoint, print, complain }) {
        const name = operand(args);
        const value = await secretGet(endpoint(), name);
        if (value === undefined) {
          complain(`secret not staged: ${name}`);
          return exitCode.absent;
        }
        print(value);
        return exitCode.ok;
      },
    },
    {
      action: "list",
      summary: "list the names, one per line",
      operands: [],
      flags: [],
      async run(_args, { endpoint, print }) {
        for (const name of await secretList(endpoint())) print(name);
        return exitCode.ok;
      },
    },
  ],
};

import { artifactGet, artifactList, artifactPut } from "../../client/job/calls.ts";
import { exitCode, type JobFamily, operand, scopeFlags, scopeOf } from "./job-command.ts";

/** `cronstable artifact put|get|list`: payloads for a later run or another node (ART-1). */
export const artifactFamily: JobFamily = {
  word: "artifact",
  commands: [
    {
      action: "put",
      summary: "publish a file, or stdin, under a name and print its SHA-256",
      operands: [{ name: "name" }, { name: "file", presence: "optional" }],
      flags: scopeFlags,
      async run(args, { endpoint, print }) {
        const to = endpoint();
        const { payloadFrom } = await import("./payload.ts");
        print(await artifactPut(to, scopeOf(args), operand(args), await payloadFrom(args.operands[1])));
        return exitCode.ok;
      },
    },
    {
      action: "get",
      summary: "write the newest payload of a name to stdout or a file",
      operands: [{ name: "name" }],
      flags: [{ name: "output", short: "o", value: "FILE", summary: "file to write (default: stdout)" }, ...scopeFlags],
      async run(args, { endpoint, complain }) {
        const name = operand(args);
        const bytes = await artifactGet(endpoint(), scopeOf(args), name);
        if (bytes === undefined) {
          complain(`artifact not found: ${name}`);
          return exitCode.absent;
        }
        const { payloadTo } = await import("./payload.ts");
        await payloadTo(args.flags.get("output"), bytes);
        return exitCode.ok;
      },
    },
    {
      action: "list",
      summary: "list the names, one per line",
      operands: [],
      flags: scopeFlags,
      async run(args, { endpoint, print }) {
        for (const { name } of await artifactList(endpoint(), scopeOf(args))) print(String(name));
        return exitCode.ok;
      },
    },
  ],
};

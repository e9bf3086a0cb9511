import { artifactGet, artifactList, artifactPut } from "../../client/job/calls.ts";
import { taskKeyOf, xcomName, xcomPlace } from "../../client/job/xcom-place.ts";
import { exitCode, type Flag, type JobFamily } from "./job-command.ts";

const key: Flag = { name: "key", value: "KEY", kind: "key", required: true, summary: "name of what is handed over" };

/** `cronstable xcom push|pull|list`: data between the tasks of one workflow run (dags 7.2). */
export const xcomFamily: JobFamily = {
  word: "xcom",
  commands: [
    {
      action: "push",
      summary: "publish a file, or stdin, for the tasks that follow",
      operands: [{ name: "file", presence: "optional" }],
      flags: [key],
      async run({ operands, flags }, { endpoint, environment }) {
        const { scope, taskKey } = xcomPlace(environment);
        const to = endpoint();
        const { payloadFrom } = await import("./payload.ts");
        await artifactPut(to, scope, xcomName(taskKey, flags.get("key") ?? ""), await payloadFrom(operands[0]));
        return exitCode.ok;
      },
    },
    {
      action: "pull",
      summary: "write what another task has pushed to stdout or a file",
      operands: [],
      flags: [
        { name: "task", value: "TASK", required: true, summary: "task that pushed it" },
        key,
        { name: "map-index", value: "I", kind: "integer", summary: "instance of a mapped task" },
        { name: "output", short: "o", value: "FILE", summary: "file to write (default: stdout)" },
      ],
      async run({ flags }, { endpoint, environment, complain }) {
        const { scope } = xcomPlace(environment);
        const taskKey = taskKeyOf(flags.get("task") ?? "", flags.get("map-index"));
        const name = flags.get("key") ?? "";
        const bytes = await artifactGet(endpoint(), scope, xcomName(taskKey, name));
        if (bytes === undefined) {
          complain(`no xcom '${name}' from task '${taskKey}'`);
          return exitCode.absent;
        }
        const { payloadTo } = await import("./payload.ts");
        await payloadTo(flags.get("output"), bytes);
        return exitCode.ok;
      },
    },
    {
      action: "list",
      summary: "list what the tasks of this run have pushed, one TASK/KEY per line",
      operands: [],
      flags: [],
      async run(_args, { endpoint, environment, print }) {
        const { scope } = xcomPlace(environment);
        for (const { name } of await artifactList(endpoint(), scope)) print(String(name));
        return exitCode.ok;
      },
    },
  ],
};

import { type Command, Option } from "commander";
import { z } from "zod";
import { type Answer, type ControlClient, ControlError, controlClient } from "../client/control/control-client.ts";
import type { Config, DagConfig } from "../config/model.ts";
import { problemsText } from "../config/problem.ts";
import {
  backfilled,
  dagRunDocument,
  dagRuns,
  dag as dagShape,
  dagTriggered,
  decided,
  recoveryAnswer,
} from "../contract/wire/dags.ts";
import { loadWithTemplates } from "../daemon/load.ts";
import { systemClock } from "../platform/clock.ts";
import { quoted } from "../schedule/schedule-error.ts";
import type { CommandContext } from "./command-line.ts";
import { type AskedApi, apiEndpoint, DEFAULT_URL } from "./dag/api-endpoint.ts";
import { followed } from "./dag/follow.ts";
import { drawGraph, type GraphFormat, graphFormats, layersOf } from "./dag/graph.rules.ts";
import { dagHints } from "./dag/hints.rules.ts";
import { oneLine } from "./dag/one-line.ts";
import { dagLines, planLines, runLines, taskLines } from "./dag/tables.ts";
import { Refusal } from "./errors.ts";
import { DEFAULT_CONFIG } from "./root.ts";

interface Asked extends AskedApi {
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * `cronstable dag …`: workflows from the command line. `validate` and `graph` read the configuration; the rest asks a running daemon over
 * its control API, with the same answers and refusals (dags 16).
 */
export function register(program: Command, context: CommandContext): void {
  const dag = program.command("dag").description("check and draw workflows; start, follow and decide their runs");

  const here = (command: Command): Command =>
    command.option("-c, --config <file-or-dir>", "configuration to read (default: /etc/cronstable.d)");
  const there = (command: Command): Command =>
    command
      .option("-c, --config <file-or-dir>", "the daemon's configuration, for the address and token of its API")
      .option("--url <address>", `address of the API: http, https or unix (default: from -c, else ${DEFAULT_URL})`)
      .option("--token <token>", "token of the API (default: --token-file, CRONSTABLE_TOKEN, or that of -c)")
      .option("--token-file <file>", "file that holds the token")
      .option("--json", "print the API's answer as it is");
  const load = (asked: Asked): Config => loaded(asked.config ?? context.root().config ?? DEFAULT_CONFIG);

  /** Asks the daemon; what it refuses is the command's refusal. */
  const calling = async (
    asked: Asked,
    command: Command,
    call: (client: ControlClient) => Promise<void>,
  ): Promise<void> => {
    // Once the address is known, only a configuration that is named for this command is asked for a token.
    const file = asked.config ?? (asked.url === undefined ? context.root().config : null);
    const config = file === null ? null : loaded(file);
    const endpoint = await apiEndpoint(asked, config, process.env, (message) => command.error(message));
    try {
      await call(controlClient(endpoint));
    } catch (error) {
      if (error instanceof ControlError) throw new Refusal(oneLine(error.message));
      throw error;
    }
  };

  here(dag.command("validate [name]"))
    .description("check the workflows of a configuration: exit 0 valid, 1 not")
    .action((name: string | undefined, asked: Asked) => {
      const { dags, warnings } = load(asked);
      const chosen = name === undefined ? dags : [named(dags, name)];
      if (chosen.length === 0) print(["no workflows are configured"]);
      for (const found of chosen) {
        const { tasks } = found;
        const title = `${found.name}: ${count(tasks.length, "task")} in ${count(layersOf(found).length, "step")}, ${whenOf(found)}`;
        print([
          oneLine(title),
          `  ${tasks.map(({ id }) => oneLine(id)).join(", ")}`,
          ...dagHints(found).map((hint) => `  hint: ${hint}`),
        ]);
      }
      const names = chosen.flatMap(({ name: dag, tasks }) => [
        `dag ${quoted(dag)}`,
        ...tasks.map(({ id }) => `${dag}.${id}`),
      ]);
      const shown =
        name === undefined
          ? warnings
          : warnings.filter(({ message }) => names.some((known) => message.includes(known)));
      for (const { level, message } of shown) process.stderr.write(`${level}: ${oneLine(message)}\n`);
    });

  here(dag.command("graph <name>"))
    .description("draw a workflow")
    .addOption(new Option("--format <format>", "form of the drawing").choices(graphFormats).default("text"))
    .action((name: string, asked: Asked & { format: GraphFormat }) => {
      print(drawGraph(named(load(asked).dags, name), asked.format));
    });

  there(dag.command("list"))
    .description("all workflows, with their latest run")
    .action((asked: Asked, command: Command) =>
      calling(asked, command, async (client) => {
        show(asked, await client.get("/dags", z.array(dagShape)), dagLines);
      }),
    );

  there(dag.command("runs <name>"))
    .description("runs of a workflow, newest first")
    .option("--limit <n>", "how many (default: 50, at most 500)")
    .action((name: string, asked: Asked & { limit?: string }, command: Command) =>
      calling(asked, command, async (client) => {
        const limit = asked.limit === undefined ? "" : `?limit=${encodeURIComponent(asked.limit)}`;
        show(asked, await client.get(`${pathOf(name)}/runs${limit}`, dagRuns), ({ runs }) => runLines(runs));
      }),
    );

  there(dag.command("show <name> <run>"))
    .description("one run with its tasks")
    .action((name: string, run: string, asked: Asked, command: Command) =>
      calling(asked, command, async (client) => {
        show(asked, await client.get(runPath(name, run), dagRunDocument), taskLines);
      }),
    );

  there(dag.command("trigger <name>"))
    .description("start a run now and print its key")
    .option("--wait", "follow it to its end: exit 0 when it succeeded, 1 when not; --json prints the run as it ended")
    .action((name: string, asked: Asked & { wait?: boolean }, command: Command) =>
      calling(asked, command, async (client) => {
        const answer = await client.post(`${pathOf(name)}/trigger`, dagTriggered, {});
        const { runKey } = answer.value;
        if (!asked.wait || !asked.json) show(asked, answer, () => [runKey]);
        if (!asked.wait) return;
        const tell = (line: string): void => void process.stderr.write(`${line}\n`);
        const { run, text } = await followed(client, runPath(name, runKey), systemClock, tell);
        if (asked.json) print([text.trimEnd()]);
        tell(oneLine(`${run.dag} ${runKey}: ${run.state}`));
        context.finish(run.state === "success" ? 0 : 1);
      }),
    );

  for (const decision of ["approve", "reject"] as const) {
    there(dag.command(`${decision} <name> <run> <task>`))
      .description(decision === "approve" ? "let a run pass an approval gate" : "turn a run away at an approval gate")
      .option("--by <who>", "who decides, for the record", process.env.USER)
      .action((name: string, run: string, task: string, asked: Asked & { by?: string }, command: Command) =>
        calling(asked, command, async (client) => {
          const by = asked.by === undefined ? {} : { by: asked.by };
          const path = `${runPath(name, run)}/tasks/${encodeURIComponent(task)}/decision`;
          show(asked, await client.post(path, decided, { decision, ...by }), () => [
            `${task}: ${decision === "approve" ? "approved" : "rejected"}`,
          ]);
        }),
      );
  }

  there(dag.command("backfill <name>"))
    .description("create the runs of past dates; those that are there stay as they are")
    .requiredOption("--from <date>", "first date, ISO 8601")
    .requiredOption("--to <date>", "last date, included")
    .action((name: string, asked: Asked & { from: string; to: string }, command: Command) =>
      calling(asked, command, async (client) => {
        const { from, to } = asked;
        const answer = await client.post(`${pathOf(name)}/backfill`, backfilled, { from, to });
        show(asked, answer, ({ created, new: made, truncated, next }) => {
          const rest = truncated === true && next !== undefined ? [`more dates follow: go on with --from ${next}`] : [];
          return [`${count(created, "date")}, ${made ?? created} of them new`, ...rest];
        });
      }),
    );

  there(dag.command("recover <name> <run>"))
    .description("run the failed part of an ended run again, in a new run; without --yes: only say what that would do")
    .addOption(
      new Option("--from-task <task>", "begin with this task instead of what has failed; repeatable")
        .argParser((text, before: readonly string[]) => [...before, text])
        .default([], "what has failed"),
    )
    .option("--allow-config-change", "also when the configuration is not the one the run had")
    .option("--yes", "do it, and print the new run's key")
    .action((name: string, run: string, asked: Asked & AskedRecovery, command: Command) =>
      calling(asked, command, async (client) => {
        const path = `${runPath(name, run)}/recover`;
        const selection = asked.fromTask.length === 0 ? { mode: "failed" } : { mode: "from", tasks: asked.fromTask };
        const preview = await client.post(path, recoveryAnswer, { ...selection, dryRun: true });
        if (!asked.yes) {
          show(asked, preview, (plan) => [...planLines(plan), "nothing is done yet: --yes does it"]);
          return;
        }
        // What is carried out is what was previewed: the token of another plan is refused.
        const { planToken } = preview.value;
        const allowConfigChange = asked.allowConfigChange ?? false;
        const order = { ...selection, dryRun: false, planToken, allowConfigChange };
        const answer = await client.post(path, recoveryAnswer, order);
        show(asked, answer, ({ runKey }) => (runKey === undefined ? [] : [runKey]));
        for (const line of planLines({ ...preview.value, configurationChanged: false }))
          process.stderr.write(`${line}\n`);
      }),
    );
}

interface AskedRecovery {
  readonly fromTask: readonly string[];
  readonly allowConfigChange?: boolean;
  readonly yes?: boolean;
}

function loaded(path: string): Config {
  const found = loadWithTemplates(path);
  if (!found.ok) throw new Refusal(`Configuration error: ${problemsText(found.problems)}`);
  return found.config;
}

function named(dags: readonly DagConfig[], name: string): DagConfig {
  const found = dags.find((dag) => dag.name === name);
  if (found !== undefined) return found;
  const known = dags.map((dag) => dag.name).join(", ");
  throw new Refusal(
    `dag ${quoted(name)} is not configured${known === "" ? "; there are none" : `; there are: ${known}`}`,
  );
}

function whenOf({ scheduleText, enabled }: DagConfig): string {
  if (scheduleText === null) return "started by hand";
  return `schedule ${scheduleText}${enabled ? "" : " (disabled)"}`;
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? "" : "s"}`;
}

function pathOf(name: string): string {
  return `/dags/${encodeURIComponent(name)}`;
}

function runPath(name: string, run: string): string {
  return `${pathOf(name)}/runs/${encodeURIComponent(run)}`;
}

function show<T>({ json }: Asked, { text, value }: Answer<T>, lines: (value: T) => readonly string[]): void {
  print(json ? [text.trimEnd()] : lines(value));
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

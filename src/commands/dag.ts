import { type Command, Option } from "commander";
import { type ControlClient, ControlError, controlClient } from "../client/control/control-client.ts";
import type { Config, DagConfig } from "../config/model.ts";
import { problemsText } from "../config/problem.ts";
import { backfilled, dagRunDocument, dagRuns, dagTriggered } from "../contract/wire/dags.ts";
import { loadWithTemplates } from "../daemon/load.ts";
import { systemClock } from "../platform/clock.ts";
import type { CommandContext } from "./command-line.ts";
import { drawGraph, type GraphFormat, graphFormats, layersOf } from "./dag/graph.rules.ts";
import { runLines, taskLines } from "./dag/tables.ts";
import { Refusal } from "./errors.ts";
import { DEFAULT_CONFIG } from "./root.ts";

interface Asked {
  readonly config?: string;
  readonly url?: string;
  readonly token?: string;
  readonly json?: boolean;
}

/** Where the API is when nothing says it. */
const DEFAULT_URL = "http://127.0.0.1:8080";

/** How often a run that is waited for is looked at. */
const WATCH_EVERY_MS = 1_000;

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
      .option("-c, --config <file-or-dir>", "configuration of the daemon, for the address of its API")
      .option("--url <address>", `address of the API: http, https or unix (default: from -c, else ${DEFAULT_URL})`)
      .addOption(new Option("--token <token>", "token of the API").env("CRONSTABLE_TOKEN"))
      .option("--json", "print the API's answer");
  const load = (asked: Asked): Config => loaded(asked.config ?? context.root().config ?? DEFAULT_CONFIG);

  /** Asks the daemon; what it refuses is the command's refusal. */
  const calling = async (asked: Asked, call: (client: ControlClient) => Promise<void>): Promise<void> => {
    const config = asked.config ?? context.root().config;
    const base = asked.url ?? (config === null ? DEFAULT_URL : (loaded(config).web?.listen[0] ?? DEFAULT_URL));
    if (!/^(https?|unix):\/\//.test(base) || !URL.canParse(base))
      throw new Refusal(`${base} is no address of the API: use http://, https:// or unix://`);
    try {
      await call(controlClient(base, asked.token ?? null));
    } catch (error) {
      if (error instanceof ControlError) throw new Refusal(error.message);
      throw error;
    }
  };

  here(dag.command("validate [name]"))
    .description("check the workflows of a configuration: exit 0 valid, 1 not")
    .action((name: string | undefined, asked: Asked) => {
      const { dags } = load(asked);
      for (const found of name === undefined ? dags : [named(dags, name)]) {
        const steps = layersOf(found.tasks).length;
        print([`${found.name}: ${count(found.tasks.length, "task")} in ${count(steps, "step")}, ${whenOf(found)}`]);
      }
      if (dags.length === 0) print(["no workflows are configured"]);
    });

  here(dag.command("graph <name>"))
    .description("draw a workflow")
    .addOption(new Option("--format <format>", "form of the drawing").choices(graphFormats).default("text"))
    .action((name: string, asked: Asked & { format: GraphFormat }) => {
      print(drawGraph(named(load(asked).dags, name), asked.format));
    });

  there(dag.command("runs <name>"))
    .description("runs of a workflow, newest first")
    .option("--limit <n>", "how many (default: 50, at most 500)")
    .action((name: string, asked: Asked & { limit?: string }) =>
      calling(asked, async (client) => {
        const limit = asked.limit === undefined ? "" : `?limit=${encodeURIComponent(asked.limit)}`;
        const answer = await client.get(`${pathOf(name)}/runs${limit}`);
        show(asked, answer, () => runLines(dagRuns.parse(answer).runs));
      }),
    );

  there(dag.command("show <name> <run>"))
    .description("one run with its tasks")
    .action((name: string, run: string, asked: Asked) =>
      calling(asked, async (client) => {
        const answer = await client.get(runPath(name, run));
        show(asked, answer, () => taskLines(dagRunDocument.parse(answer)));
      }),
    );

  there(dag.command("trigger <name>"))
    .description("start a run now and print its key")
    .option("--wait", "follow it to its end: exit 0 when it succeeded, 1 when not")
    .action((name: string, asked: Asked & { wait?: boolean }) =>
      calling(asked, async (client) => {
        const answer = await client.post(`${pathOf(name)}/trigger`, {});
        const { runKey } = dagTriggered.parse(answer);
        show(asked, answer, () => [runKey]);
        if (asked.wait) context.finish((await ended(client, runPath(name, runKey))) === "success" ? 0 : 1);
      }),
    );

  for (const decision of ["approve", "reject"] as const) {
    there(dag.command(`${decision} <name> <run> <task>`))
      .description(decision === "approve" ? "let a run pass an approval gate" : "turn a run away at an approval gate")
      .option("--by <who>", "who decides, for the record", process.env.USER)
      .action((name: string, run: string, task: string, asked: Asked & { by?: string }) =>
        calling(asked, async (client) => {
          const by = asked.by === undefined ? {} : { by: asked.by };
          const path = `${runPath(name, run)}/tasks/${encodeURIComponent(task)}/decision`;
          const answer = await client.post(path, { decision, ...by });
          show(asked, answer, () => [`${task}: ${decision === "approve" ? "approved" : "rejected"}`]);
        }),
      );
  }

  there(dag.command("backfill <name>"))
    .description("create the runs of past dates; those that are there stay as they are")
    .requiredOption("--from <date>", "first date, ISO 8601")
    .requiredOption("--to <date>", "last date, included")
    .action((name: string, asked: Asked & { from: string; to: string }) =>
      calling(asked, async (client) => {
        const { from, to } = asked;
        const answer = await client.post(`${pathOf(name)}/backfill`, { from, to });
        show(asked, answer, () => {
          const { created, new: made, truncated, next } = backfilled.parse(answer);
          const rest = truncated === true && next !== undefined ? [`more dates follow: go on with --from ${next}`] : [];
          return [`${count(created, "date")}, ${made ?? created} of them new`, ...rest];
        });
      }),
    );
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
  throw new Refusal(`dag '${name}' is not configured${known === "" ? "; there are none" : `; there are: ${known}`}`);
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

/** The run's verdict, when it has one. */
async function ended(client: ControlClient, path: string): Promise<string> {
  for (;;) {
    const { state } = dagRunDocument.parse(await client.get(path));
    if (state !== "running") return state;
    await new Promise((resolve) => systemClock.after(WATCH_EVERY_MS, () => resolve(null)));
  }
}

function show({ json }: Asked, answer: unknown, lines: () => readonly string[]): void {
  print(json ? [JSON.stringify(answer, null, 2)] : lines());
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

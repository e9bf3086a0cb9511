import { type SpawnOptions, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aRun, startEndpoint } from "../test/support/job-api.ts";
import { scriptOf } from "../test/support/wire.ts";
import type { BenchRow } from "./row.ts";

const program = join(import.meta.dirname, "../dist/cronstable.cjs");
/** Extra certificates are read at every start of Node; they are the machine's business, not ours. */
const { NODE_EXTRA_CA_CERTS: _, ...daemonEnvironment } = process.env;

const ROUNDS = 41;
const REQUESTS = 2_000;

/** The least that gets the same answer: one request with Node's own client. */
const bareClient = `import { request } from "node:http";
request(process.env.CRONSTABLE_STATE_URL + "/v1/kv/get?key=k", {
  agent: false,
  headers: { Authorization: "Bearer " + process.env.CRONSTABLE_STATE_TOKEN },
}, (response) => response.pipe(process.stdout)).end();
`;

/** What a job pays for asking its daemon: on the command line, and on the wire. */
export async function jobApiRows(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "cronstable-bench-"));
  const api = await startEndpoint();
  try {
    const { environment } = await api.register(aRun());
    await scriptOf(environment).ask("POST", "/v1/kv/set", '{"key":"k","value":"12345"}');
    const client = join(folder, "client.mjs");
    writeFileSync(client, bareClient);
    return [...(await startRows(client, environment)), await requestRow(environment)];
  } finally {
    await api.stop();
    rmSync(folder, { recursive: true });
  }
}

async function startRows(client: string, environment: Readonly<Record<string, string>>): Promise<BenchRow[]> {
  const node: number[] = [];
  const bare: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    node.push(await wallMs(["-e", "0"], environment));
    bare.push(await wallMs([client], environment));
    ours.push(await wallMs([program, "state", "get", "k"], environment));
  }
  const row = (floor: number, name: string, target: string): BenchRow => ({
    name,
    ours: median(ours),
    floor,
    unit: "ms",
    ratio: median(ours) / floor,
    target,
  });
  return [
    row(median(node), "cronstable state get, beside node -e 0", "within 25 ms"),
    row(median(bare), "cronstable state get, beside the same request by a bare script", ""),
  ];
}

/** One connection per request, as the commands do it. */
async function requestRow(environment: Readonly<Record<string, string>>): Promise<BenchRow> {
  const script = scriptOf(environment);
  const start = performance.now();
  for (let request = 0; request < REQUESTS; request++) await script.ask("GET", "/v1/kv/get?key=k");
  const ours = (performance.now() - start) / REQUESTS;
  return { name: "one /v1/kv/get, client and endpoint in one process", ours, floor: null, unit: "ms", ratio: null };
}

/** The endpoint lives in this process, so it must be free to answer meanwhile. */
function wallMs(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<number> {
  const options: SpawnOptions = { env: { ...daemonEnvironment, ...environment }, stdio: ["ignore", "pipe", "inherit"] };
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, args, options);
    child.stdout?.resume();
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(performance.now() - start) : reject(new Error(`${args.join(" ")} ended with ${code}`)),
    );
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

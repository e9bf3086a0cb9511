import { readFileSync } from "node:fs";
import type { ControlEndpoint } from "../../client/control/control-client.ts";
import type { Config } from "../../config/model.ts";
import { readListenAddress } from "../../http/listen-address.rules.ts";
import { resolveSecret } from "../../report/secret.ts";
import { Refusal } from "../errors.ts";

/** Where the API is when nothing says it. */
export const DEFAULT_URL = "http://127.0.0.1:8080";

/** What the command line says of the API. */
export interface AskedApi {
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
}

/**
 * Where the daemon's API is, and with which token: what was asked for, else what `config`, the daemon's own, says; null: none was named.
 *
 * @param usage refuses a command line that makes no sense
 * @throws Refusal
 */
export async function apiEndpoint(
  asked: AskedApi,
  config: Config | null,
  environment: NodeJS.ProcessEnv,
  usage: (message: string) => never,
): Promise<ControlEndpoint> {
  const url = asked.url ?? configuredUrl(config);
  if (!/^(https?|unix):\/\/./.test(url) || !URL.canParse(url))
    usage(`${url} is no address of the API: use http://host:port, https://host:port or unix:///path`);
  const token = asked.token ?? fileToken(asked.tokenFile) ?? environment.CRONSTABLE_TOKEN ?? (await ownToken(config));
  if (token === null || token === "") return { url, token: null };
  // It becomes a header. The message holds nothing of it.
  if (/\p{Cc}/u.test(token)) throw new Refusal("the token has control characters in it, as no token of the API has");
  return { url, token };
}

/** The first address of `web.listen`, as one that can be connected to. */
function configuredUrl(config: Config | null): string {
  if (config === null) return DEFAULT_URL;
  const [first] = config.web?.listen ?? [];
  if (first === undefined)
    throw new Refusal("the configuration has no `web.listen`; name the API's address with --url");
  const address = readListenAddress(first);
  switch (address.kind) {
    case "unix":
      return `unix://${encodeURI(address.path).replaceAll("?", "%3F").replaceAll("#", "%23")}`;
    case "unusable":
      throw new Refusal(`web.listen: ${first}: ${address.why}; name the API's address with --url`);
    case "tcp": {
      if (address.port === 0)
        throw new Refusal(`web.listen: ${first} takes a port of its own at each start; name the address with --url`);
      const host = reachable[address.host] ?? address.host;
      return `${address.secure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${address.port}`;
    }
  }
}

/** Addresses that stand for all of the host's own. */
const reachable: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1", "*": "127.0.0.1" };

function fileToken(path: string | undefined): string | null {
  if (path === undefined) return null;
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new Refusal(`--token-file could not be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The token that may do everything, where the caller may read it. */
async function ownToken(config: Config | null): Promise<string | null> {
  const source = config?.web?.authToken ?? null;
  if (source === null) return null;
  const secret = await resolveSecret(source, "web.authToken");
  if (secret.kind === "problem")
    throw new Refusal(`${secret.problem}; give a token with --token, --token-file or CRONSTABLE_TOKEN`);
  return secret.kind === "secret" ? secret.text : null;
}

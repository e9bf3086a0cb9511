import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Scope, SecretSource, WebConfig } from "../config/model.ts";
import { type Caller, expandedScopes } from "./access.rules.ts";

/** A token source that cannot be used; the message names the entry, never a secret (4.2). */
export class TokenProblem extends Error {}

/** The tokens of one start of the API. */
export interface TokenTable {
  readonly count: number;
  /**
   * Whose token this is, null for none. Compares digests with every entry, so that the time taken tells neither how much of a token was
   * right nor whose it nearly was.
   */
  recognize(presented: Buffer): Caller | null;
}

interface Entry {
  readonly label: string;
  readonly digest: Buffer;
  readonly caller: Caller;
}

/** Reads every source. @throws TokenProblem */
export function loadTokens(
  config: Pick<WebConfig, "authToken" | "authTokens">,
  environment: Readonly<Record<string, string | undefined>>,
): TokenTable {
  const entries: Entry[] = [];
  const add = (name: string, label: string, source: SecretSource, scopes: readonly Scope[]): void => {
    const digest = digestOf(Buffer.from(resolveSource(name, source, environment), "utf8"));
    const twin = entries.find((entry) => entry.digest.equals(digest));
    if (twin !== undefined)
      throw new TokenProblem(
        `web token '${label}' resolves to the same secret as '${twin.label}'; give each token a secret of its own`,
      );
    entries.push({ label, digest, caller: { kind: "token", label, scopes: expandedScopes(scopes) } });
  };
  if (config.authToken !== null) add("web.authToken", "authToken", config.authToken, ["view", "control", "approve"]);
  for (const [index, { source, scopes, label }] of config.authTokens.entries()) {
    const name = `web.authTokens[${index}]`;
    add(name, label ?? name, source, scopes);
  }
  return {
    count: entries.length,
    recognize(presented) {
      const digest = digestOf(presented);
      let found: Caller | null = null;
      for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
      return found;
    },
  };
}

/** Files whose change means that tokens have to be read anew. */
export function tokenFiles({ authToken, authTokens }: Pick<WebConfig, "authToken" | "authTokens">): readonly string[] {
  return [authToken, ...authTokens.map(({ source }) => source)].flatMap((source) =>
    source === null || filled(source.value) || !filled(source.fromFile) ? [] : [source.fromFile],
  );
}

function filled(text: string | null): text is string {
  return text !== null && text !== "";
}

/** The first source that is filled in counts; values and variables are taken as they are, files are trimmed. */
function resolveSource(
  name: string,
  { value, fromFile, fromEnvVar }: SecretSource,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  let token = "";
  if (filled(value)) token = value;
  else if (filled(fromFile)) token = readTokenFile(name, fromFile);
  else if (filled(fromEnvVar)) token = environment[fromEnvVar] ?? "";
  if (token === "")
    throw new TokenProblem(
      `${name} is configured but resolved to an empty token; refusing to start the web API without authentication`,
    );
  return token;
}

function readTokenFile(name: string, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path)).trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TokenProblem(`${name}.fromFile could not be read: ${reason}`);
  }
}

function digestOf(token: Buffer): Buffer {
  return createHash("sha256").update(token).digest();
}

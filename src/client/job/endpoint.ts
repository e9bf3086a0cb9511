import { JobApiError } from "./job-api-error.ts";

/** How a running job reaches the endpoint of its daemon. */
export interface Endpoint {
  readonly url: URL;
  readonly token: string;
  /** The only certificate authority that is trusted; null for those of Node. */
  readonly ca: Buffer | null;
}

/**
 * The endpoint that the daemon told this job of.
 *
 * @throws JobApiError outside of a job
 */
export function endpointFrom(environment: NodeJS.ProcessEnv): Endpoint {
  const address = required(environment, "CRONSTABLE_STATE_URL");
  const token = required(environment, "CRONSTABLE_STATE_TOKEN");
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new JobApiError("not in a job", `CRONSTABLE_STATE_URL is not an http:// or https:// address: ${address}`);
  // The token becomes a header: anything else than what a daemon hands out is not let through.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new JobApiError("not in a job", "CRONSTABLE_STATE_TOKEN is not a token");
  const caFile = environment.CRONSTABLE_STATE_CACERT;
  return { url, token, ca: caFile ? certificateAuthority(caFile) : null };
}

function required(environment: NodeJS.ProcessEnv, variable: string): string {
  const value = environment[variable];
  if (value) return value;
  throw new JobApiError(
    "not in a job",
    `not running inside a cronstable job: ${variable} is not set (the daemon sets it for jobs of a configuration with a \`state\` section whose jobApi is enabled)`,
  );
}

function certificateAuthority(path: string): Buffer {
  try {
    return process.getBuiltinModule("node:fs").readFileSync(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new JobApiError("unreachable", `the CA certificate of CRONSTABLE_STATE_CACERT cannot be read: ${reason}`);
  }
}

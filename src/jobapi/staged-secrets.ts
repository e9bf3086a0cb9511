import type { SecretSource } from "../config/model.ts";
import type { Clock } from "../platform/clock.ts";
import type { Secret } from "../report/secret.ts";
import { SECRETS_PATIENCE_MS } from "./limits.ts";
import { patiently } from "./patiently.ts";

/** Reads one secret when it is needed; `option` is its name for messages. */
export type ResolveSecret = (source: SecretSource, option: string) => Promise<Secret>;

export interface DeclaredSecret {
  readonly name: string;
  readonly source: SecretSource;
}

/** A secret that the run will not find (SEC-2). `problem` holds nothing of the secret. */
export interface MissingSecret {
  readonly name: string;
  readonly problem: string;
}

/**
 * Resolves a run's secrets, all at once, and stages each as soon as it is known. Takes at most `SECRETS_PATIENCE_MS`: a file on a dead
 * mount costs its run the secret, not the launch.
 *
 * @returns those that are not staged
 */
export async function stageSecrets(
  secrets: readonly DeclaredSecret[],
  resolve: ResolveSecret,
  stage: (name: string, value: string) => void,
  clock: Clock,
): Promise<readonly MissingSecret[]> {
  const missing = await Promise.all(
    secrets.map(async ({ name, source }) => {
      const secret = await within(clock, resolve(source, `secret '${name}'`));
      if (secret.kind === "secret") stage(name, secret.text);
      if (secret.kind === "secret") return [];
      return [{ name, problem: secret.kind === "problem" ? secret.problem : "it has no source" }];
    }),
  );
  return missing.flat();
}

async function within(clock: Clock, secret: Promise<Secret>): Promise<Secret> {
  const waited = await patiently(clock, SECRETS_PATIENCE_MS, secret);
  return waited.kind === "done" ? waited.value : { kind: "problem", problem: waited.because };
}

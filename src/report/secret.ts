import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { SecretSource } from "../config/model.ts";
import { SECRET_BYTES_MAX } from "./limits.ts";

/** What a secret source gives at the moment it is used. `problem` names the option, never the variable, and holds nothing of the secret. */
export type Secret =
  | { readonly kind: "unset" }
  | { readonly kind: "secret"; readonly text: string }
  | { readonly kind: "problem"; readonly problem: string };

/** Whether the source is written at all; what it gives shows when it is used. */
export function isConfigured({ value, fromFile, fromEnvVar }: SecretSource): boolean {
  return value !== null || fromFile !== null || fromEnvVar !== null;
}

/**
 * Reads a secret (running 11.4): the first of `value`, `fromFile` and `fromEnvVar` that is not empty. A source that gives nothing is a
 * problem, not "no secret": what was meant to be protected must not go on without.
 *
 * @param option the option's name for messages, `webhook.url`
 */
export async function resolveSecret(source: SecretSource, option: string): Promise<Secret> {
  if (!isConfigured(source)) return { kind: "unset" };
  let text = source.value ?? "";
  if (text === "" && source.fromFile) {
    try {
      text = await secretFile(source.fromFile);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { kind: "problem", problem: `${option}.fromFile could not be read: ${why}` };
    }
  } else if (text === "" && source.fromEnvVar) text = process.env[source.fromEnvVar] ?? "";
  if (text === "") return { kind: "problem", problem: `${option} is configured but resolved to an empty secret` };
  return { kind: "secret", text };
}

/** A FIFO without a writer reads as empty instead of holding a thread of the pool. */
async function secretFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(SECRET_BYTES_MAX + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (length > SECRET_BYTES_MAX) throw new Error(`${path} is larger than ${SECRET_BYTES_MAX} bytes`);
      if (bytesRead === 0) break;
    }
    return buffer
      .toString("utf8", 0, length)
      .replace(/^\ufeff/, "")
      .trim();
  } finally {
    await file.close();
  }
}

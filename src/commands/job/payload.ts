import { createReadStream } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import type { ArtifactContent } from "../../client/job/calls.ts";
import { Refusal } from "../errors.ts";

/** What to publish: a file, or stdin for `-` and for nothing. A regular file is sent as it is read; all else is read first. @throws Refusal */
export async function payloadFrom(file: string | undefined): Promise<ArtifactContent> {
  if (file === undefined || file === "-") return readWhole(process.stdin, "stdin");
  const found = await stat(file).catch((error: unknown) => refuse(`cannot read ${file}`, error));
  if (!found.isFile() || found.size === 0) return readWhole(createReadStream(file), file);
  // A file that grows while it is sent is cut where it ended when it was looked at.
  return { content: createReadStream(file, { end: found.size - 1 }), bytes: found.size };
}

async function readWhole(stream: AsyncIterable<Buffer>, name: string): Promise<ArtifactContent> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of stream) chunks.push(chunk);
  } catch (error) {
    refuse(`cannot read ${name}`, error);
  }
  const content = Buffer.concat(chunks);
  return { content, bytes: content.length };
}

/** Writes a payload to a file, or to stdout for `-` and for nothing. @throws Refusal */
export async function payloadTo(file: string | undefined, bytes: Uint8Array): Promise<void> {
  if (file === undefined || file === "-") process.stdout.write(bytes);
  else await writeFile(file, bytes).catch((error: unknown) => refuse(`cannot write ${file}`, error));
}

function refuse(what: string, error: unknown): never {
  throw new Refusal(`${what}: ${error instanceof Error ? error.message : String(error)}`);
}

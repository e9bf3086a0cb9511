/** Whether the files of a configuration look as they did when it was read (config 10), without reading them. */
import { type BigIntStats, statSync } from "node:fs";

/** What a file looked like; null for one that is not there. */
export type Stamp = { readonly modifiedNs: bigint; readonly size: bigint } | null;

export function stampOf({ mtimeNs, size }: BigIntStats): Stamp {
  return { modifiedNs: mtimeNs, size };
}

/**
 * Two signatures differ when a file changed, went or came. An edit that keeps size and modification time goes unnoticed, as do
 * variables and the contents of secret files: those take a SIGHUP.
 *
 * @param directory in directory mode its modification time counts, so a new file is noticed
 */
export function signatureOf(stamps: ReadonlyMap<string, Stamp>, directory: string | null): string {
  const lines = [...stamps].map(([path, stamp]) => {
    if (stamp === null) return `${path}\0-`;
    return path === directory ? `${path}\0${stamp.modifiedNs}` : `${path}\0${stamp.modifiedNs}\0${stamp.size}`;
  });
  return lines.sort().join("\n");
}

/** The signature the files have now, to compare with the `signature` of the configuration that was read from them. */
export function currentSignature(config: {
  readonly files: readonly string[];
  readonly directory: string | null;
}): string {
  const paths = config.directory === null ? config.files : [...config.files, config.directory];
  return signatureOf(new Map(paths.map((path) => [path, stampNow(path)])), config.directory);
}

function stampNow(path: string): Stamp {
  try {
    return stampOf(statSync(path, { bigint: true }));
  } catch (error) {
    if (error instanceof Error && "code" in error) return null;
    throw error;
  }
}

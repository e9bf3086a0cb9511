import { stat } from "node:fs/promises";

/** Changes whenever one of the files does; symbolic links are followed. A file that cannot be looked at has a value of its own. */
export async function fileSignature(paths: readonly string[]): Promise<string> {
  const parts = paths.map(async (path) => {
    try {
      const { mtimeNs, size, ino } = await stat(path, { bigint: true });
      return `${mtimeNs}:${size}:${ino}`;
    } catch (error) {
      return String(error);
    }
  });
  return (await Promise.all(parts)).join(" ");
}

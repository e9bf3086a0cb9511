import { randomBytes } from "node:crypto";
import { chmod, link, lstat, mkdir, rm, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { dirname, join } from "node:path";
import type { Logger } from "../contract/log.ts";

/**
 * Binds a server to a socket file (http 2.2). The socket is made aside and gets its mode there, so it stands at its path with that mode
 * from the first moment. A file that a dead process left is replaced; one that is served, or is no socket, is left alone.
 *
 * @returns removes the file, unless another one has taken its place
 */
export async function bindUnixSocket(
  server: Server,
  path: string,
  mode: number | null,
  log: Logger,
): Promise<() => Promise<void>> {
  await makeRoom(path);
  const aside = join(dirname(path), `.${randomBytes(4).toString("hex")}`);
  await mkdir(aside, { mode: 0o700 });
  const staged = join(aside, "s");
  try {
    await listening(server, staged);
    if (mode !== null) await setMode(staged, mode, path, log);
    await link(staged, path); // unlike a rename it does not overwrite what has come in the meantime
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  const own = await lstat(path, { bigint: true });
  return async () => {
    const now = await lstat(path, { bigint: true }).catch(() => null);
    if (now !== null && now.ino === own.ino && now.dev === own.dev) await unlink(path);
  };
}

async function setMode(staged: string, mode: number, path: string, log: Logger): Promise<void> {
  try {
    await chmod(staged, mode);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warning(`web: could not set socketMode '${mode.toString(8)}' on ${path}: ${reason}`);
  }
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}

async function makeRoom(path: string): Promise<void> {
  const there = await lstat(path).catch(() => null);
  if (there === null) return;
  if (!there.isSocket()) throw new Error(`${path} exists and is not a socket`);
  if (await isServed(path)) throw new Error(`address already in use: another process serves ${path}`);
  await unlink(path);
}

/** Only a refused connection proves that nobody serves the socket. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  });
}

import { readFile, stat } from "node:fs/promises";
import type { Server as HttpsServer } from "node:https";
import { createSecureContext } from "node:tls";
import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import { CERTIFICATES_CHECK_MS } from "./limits.ts";

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Certificates {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Reads a pair and proves that it belongs together. Rejects when it does not load. */
export async function loadCertificates({ cert, key }: CertificateFiles): Promise<Certificates> {
  const pair = { cert: await readFile(cert), key: await readFile(key) };
  createSecureContext(pair);
  return pair;
}

/**
 * Puts a changed pair in force as soon as it loads; open connections keep the old one. Until then the old pair serves on, and the
 * reason is logged each time (JAP-4).
 *
 * @param seen signature of the files before they were loaded
 * @returns stops watching
 */
export function watchCertificates(
  server: HttpsServer,
  files: CertificateFiles,
  seen: string,
  clock: Clock,
  log: Logger,
): () => void {
  let inForce = seen;
  let stopped = false;
  const check = async (): Promise<void> => {
    const now = await signatureOf(files);
    if (now !== inForce && !stopped) {
      try {
        server.setSecureContext(await loadCertificates(files));
        inForce = now;
        log.info("state: the job API serves a new certificate");
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warning(`state: the job API keeps its certificate, the new one does not load yet: ${reason}`);
      }
    }
    if (!stopped) cancel = clock.after(CERTIFICATES_CHECK_MS, () => void check());
  };
  let cancel = clock.after(CERTIFICATES_CHECK_MS, () => void check());
  return () => {
    stopped = true;
    cancel();
  };
}

/** Changes whenever one of the files does. A file that cannot be looked at has a signature of its own. */
export async function signatureOf({ cert, key }: CertificateFiles): Promise<string> {
  const parts = [cert, key].map(async (path) => {
    try {
      const { mtimeNs, size } = await stat(path, { bigint: true });
      return `${mtimeNs}:${size}`;
    } catch (error) {
      return String(error);
    }
  });
  return (await Promise.all(parts)).join(" ");
}

import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { WebConfig } from "../config/model.ts";

/** What `https://` addresses are served with, read and proven to belong together. */
export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Clients must show a certificate of this authority; no other authority is trusted. */
  readonly clientCa: Buffer | null;
}

/** Rejects when a file cannot be read or used. Null without a certificate. */
export async function loadTls(tls: WebConfig["tls"]): Promise<TlsMaterial | null> {
  if (tls === null || tls.cert === null || tls.key === null) return null;
  const [cert, key, clientCa] = await Promise.all([
    readFile(tls.cert),
    readFile(tls.key),
    tls.clientCa === null ? null : readFile(tls.clientCa),
  ]);
  const material: TlsMaterial = { cert, key, clientCa };
  createSecureContext(contextOptions(material));
  return material;
}

export function contextOptions({ cert, key, clientCa }: TlsMaterial) {
  return { cert, key, minVersion: "TLSv1.2" as const, ...(clientCa === null ? {} : { ca: clientCa }) };
}

export function tlsFiles(tls: WebConfig["tls"]): readonly string[] {
  return tls === null ? [] : [tls.cert, tls.key, tls.clientCa].filter((path) => path !== null);
}

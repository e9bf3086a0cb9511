import { createHash } from "node:crypto";
import { z } from "zod";

/** A paired phone (running 12.5). */
export const Device = z.object({
  /** 16 hex digits. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  name: z.string(),
  platform: z.string(),
  /** How the relay finds it. */
  pushToken: z.string(),
  /** Base64 of an X25519 key, 32 bytes. */
  publicKey: z.string(),
  /** ISO-8601, whole seconds. */
  createdAt: z.string(),
  /** Label of the token that paired it. */
  createdBy: z.string().nullable(),
});
export type Device = Readonly<z.infer<typeof Device>>;

/** Longest values, in characters, and the order they are judged in. */
const LENGTHS = [
  ["name", 64],
  ["platform", 32],
  ["pushToken", 512],
] as const;

/** What a phone says of itself when it pairs; anything, until judged. */
export interface PairingRequest {
  readonly name?: unknown;
  readonly platform?: unknown;
  readonly pushToken?: unknown;
  readonly publicKey?: unknown;
}

export type Pairing = Pick<Device, "name" | "platform" | "pushToken" | "publicKey">;

/**
 * Judges a pairing request: the trimmed fields, or what is wrong with the first bad one.
 *
 * @param usable whether something can be sealed for the key
 */
export function pairing(
  request: PairingRequest,
  usable: (key: Uint8Array) => boolean,
): Pairing | { readonly problem: string } {
  const fields = { name: "", platform: "", pushToken: "" };
  for (const [field, charsMax] of LENGTHS) {
    const value = trimmed(request[field]);
    if (value === "") return { problem: `${field} is required` };
    if (Array.from(value).length > charsMax) return { problem: `${field} is longer than ${charsMax} characters` };
    fields[field] = value;
  }
  const publicKey = trimmed(request.publicKey);
  if (publicKey === "") return { problem: "publicKey is required (base64 X25519 key)" };
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(publicKey))
    return { problem: "publicKey is not valid base64" };
  const key = Buffer.from(publicKey, "base64");
  if (key.length !== 32) return { problem: `publicKey must decode to exactly 32 bytes, got ${key.length}` };
  if (!usable(key)) return { problem: "publicKey is not a usable X25519 public key" };
  return { ...fields, publicKey: key.toString("base64") };
}

function trimmed(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

/** A device as the HTTP interface shows it: the token's end only, and the key's fingerprint to compare by eye. */
export function shownDevice({ id, name, platform, publicKey, pushToken, createdAt, createdBy }: Device) {
  const digest = createHash("sha256").update(Buffer.from(publicKey, "base64")).digest("hex");
  const fingerprint = [digest.slice(0, 4), digest.slice(4, 8), digest.slice(8, 12)].join("-");
  return { id, name, platform, publicKey, fingerprint, pushToken: `…${pushToken.slice(-6)}`, createdAt, createdBy };
}

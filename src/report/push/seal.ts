/** Sealed boxes (X25519, XSalsa20-Poly1305): anybody can close one, only the holder of the key opens it. */
export interface Sealer {
  /** Base64 of the box. @throws when the key is unusable */
  seal(text: string, publicKey: string): string;
  /** Whether something can be sealed for the key: it is no point of low order. */
  usable(key: Uint8Array): boolean;
}

let loaded: Promise<Sealer> | null = null;

/**
 * Loads the crypto library, once; a daemon with a `push` section does so at its start, so that its absence is an error then.
 *
 * @throws when it cannot be loaded
 */
export function sealer(): Promise<Sealer> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<Sealer> {
  const { default: sodium } = await import("libsodium-wrappers");
  await sodium.ready;
  const seal = (message: string, key: Uint8Array): Uint8Array => sodium.crypto_box_seal(message, key);
  return {
    seal: (text, publicKey) => Buffer.from(seal(text, Buffer.from(publicKey, "base64"))).toString("base64"),
    usable(key) {
      try {
        seal("", key);
        return true;
      } catch {
        return false; // the library's word for a key of low order
      }
    },
  };
}

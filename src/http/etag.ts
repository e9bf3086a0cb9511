import { createHash, type Hash } from "node:crypto";

/** Strong, quoted, the leading half of a SHA-256 in hex (http 3.5). */
export function etagOf(content: string | Buffer): string {
  return finishedEtag(startedEtag().update(content));
}

/** For content that comes in pieces. */
export function startedEtag(): Hash {
  return createHash("sha256");
}

export function finishedEtag(hash: Hash): string {
  return `"${hash.digest("hex").slice(0, 32)}"`;
}

/** Whether the client has this version: a list of tags, weak ones too, or `*`. */
export function isKnownTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch
    .split(",")
    .map((tag) => tag.trim())
    .some((tag) => tag === "*" || tag === etag || tag === `W/${etag}`);
}

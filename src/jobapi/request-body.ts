import type { IncomingMessage, ServerResponse } from "node:http";
import { BODIES_BYTES_MAX } from "./limits.ts";
import { Refusal } from "./refusal.ts";

/** Reads request bodies into memory, each and all together within bounds (V1-4). A body counts until its request has been answered. */
export interface BodyReader {
  /**
   * A client that waits to be asked for its body is asked unless the stated length is refused.
   *
   * @throws Refusal: 413 for a body that is too large, 503 when there are too many at once, 400 for one that ends too early
   */
  read(request: IncomingMessage, response: ServerResponse): Promise<Uint8Array>;
}

/** @param bytesMax of one body; null for no limit */
export function createBodyReader(bytesMax: number | null): BodyReader {
  const together = Math.max(BODIES_BYTES_MAX, bytesMax ?? Number.POSITIVE_INFINITY);
  let inMemory = 0;

  const checkLength = (bytes: number): void => {
    if (bytesMax !== null && bytes > bytesMax)
      throw new Refusal(413, `Maximum request body size ${bytesMax} exceeded, actual body size ${bytes}`);
  };

  return {
    async read(request, response) {
      checkLength(Number(request.headers["content-length"] ?? 0));
      if (request.headers.expect !== undefined) response.writeContinue();
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.once("close", () => {
        inMemory -= bytes;
      });
      try {
        for await (const chunk of request.iterator({ destroyOnReturn: false })) {
          bytes += chunk.length;
          inMemory += chunk.length;
          checkLength(bytes);
          if (inMemory > together) throw new Refusal(503, "too many large requests at once; try again");
          chunks.push(chunk);
        }
      } catch (error) {
        if (error instanceof Refusal) throw error;
        throw new Refusal(400, "the request body ended too early");
      }
      return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    },
  };
}

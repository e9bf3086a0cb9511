import type { IncomingMessage } from "node:http";
import type { Fields } from "../contract/control-plane.ts";
import { BODY_BYTES_MAX } from "./limits.ts";

/** A body that cannot be used; the message is the answer's. */
export class BadBody extends Error {
  constructor(
    message: string,
    readonly isTooLarge = false,
  ) {
    super(message);
  }
}

const NOT_JSON = "request body is not valid JSON";

/** Reads the whole body. @throws BadBody beyond `bytesMax`, without reading on */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw new BadBody(NOT_JSON, true);
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const settle = (result: () => void): void => {
      request.off("data", take);
      result();
    };
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > bytesMax) {
        request.resume(); // the rest is read away and kept nowhere
        settle(() => reject(new BadBody(NOT_JSON, true)));
      } else chunks.push(chunk);
    };
    request.on("data", take);
    request.once("end", () => settle(() => resolve(Buffer.concat(chunks))));
    request.once("error", (error) => settle(() => reject(error)));
    request.once("close", () => settle(() => reject(new BadBody(NOT_JSON)))); // cut before its end, if not settled by now
  });
}

/** A JSON object, `{}` for an empty body, whatever the content type (http 3.2). @throws BadBody */
export async function readFields(request: IncomingMessage): Promise<Fields> {
  return fieldsOf(await readBody(request, BODY_BYTES_MAX));
}

function fieldsOf(body: Buffer): Fields {
  if (body.length === 0) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new BadBody(NOT_JSON);
  }
  if (!isFields(parsed)) throw new BadBody("request body must be a JSON object");
  return parsed;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { type McpEndpoint, mcpProtocolVersions } from "../../contract/mcp-endpoint.ts";
import { anyObject } from "../../contract/wire/shape.ts";
import { scopesOf } from "../access.rules.ts";
import { type Answer, type Headers, refusal } from "../answer.ts";
import type { Call, Route } from "../call.ts";
import { errorDoc, jsonDoc } from "../docs.ts";
import { BadBody, isFields } from "../request-body.ts";
import { labelOf } from "./job-actions.ts";

/** The HTTP face of the MCP server: one message in, one answer out, nothing kept between them (http 7.11). */
export function mcpRoutes(mcp: McpEndpoint): Route[] {
  const origins = new Set(mcp.allowedOrigins);

  const crossOrigin = (origin: string | undefined): Headers =>
    origin !== undefined && origins.has(origin)
      ? [
          ["Access-Control-Allow-Origin", origin],
          ["Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version"],
          ["Access-Control-Expose-Headers", "MCP-Protocol-Version"],
          ["Vary", "Origin"],
        ]
      : [];

  const wrapped = (answer: Answer, { headers }: Call): Answer => {
    if (answer.kind !== "body") return answer;
    const spoken: Headers = [["MCP-Protocol-Version", mcpProtocolVersions[0]]];
    return { ...answer, decorated: false, headers: [...answer.headers, ...spoken, ...crossOrigin(headers.origin)] };
  };

  const post = async (call: Call): Promise<Answer> => {
    const refused = refusedHeaders(call, origins);
    if (refused !== null) return refused;
    const message = readMessage(await bodyOf(call, mcp.bodyBytesMax));
    if ("refused" in message) return message.refused;
    const text = await mcp.answer(message.fields, { label: labelOf(call.caller), scopes: scopesOf(call.caller) });
    return { ...emptyBody, ...(text === null ? { status: 202 } : { status: 200, contentType: JSON_TYPE, body: text }) };
  };

  return [
    {
      method: "POST",
      path: "/mcp",
      scope: "control",
      doc: {
        operationId: "postMcp",
        tag: "mcp",
        summary: "One JSON-RPC message to the MCP server",
        body: { shape: anyObject, required: true },
        answers: {
          200: jsonDoc("The answer to a request.", anyObject),
          202: { about: "A notification was taken." },
          400: errorDoc("Not one JSON-RPC message, or another protocol version."),
          406: errorDoc("The client does not take JSON."),
          413: errorDoc("The message is too large."),
        },
      },
      handle: async (call) => wrapped(await post(call), call),
    },
    {
      method: "GET",
      path: "/mcp",
      scope: "control",
      doc: {
        operationId: "getMcp",
        tag: "mcp",
        summary: "There is no stream to open",
        answers: { 405: errorDoc("Messages are posted.") },
      },
      handle: (call) => wrapped(refusal(405, "method not allowed", [["Allow", "POST, OPTIONS"]]), call),
    },
    {
      method: "OPTIONS",
      path: "/mcp",
      scope: "control",
      doc: {
        operationId: "optionsMcp",
        tag: "mcp",
        summary: "May a page of this origin ask?",
        answers: {
          204: { about: "It may." },
          403: errorDoc("It may not."),
          405: errorDoc("No origin was named."),
        },
      },
      handle(call) {
        const { origin } = call.headers;
        if (origin === undefined) return wrapped(refusal(405, "preflight"), call);
        if (!origins.has(origin)) return wrapped(refusal(403, "preflight"), call);
        return wrapped(
          { ...emptyBody, status: 204, headers: [["Access-Control-Allow-Methods", "POST, OPTIONS"]] },
          call,
        );
      },
    },
  ];
}

const JSON_TYPE = "application/json";

const emptyBody = {
  kind: "body",
  status: 202,
  contentType: null,
  body: "",
  headers: [],
  decorated: false,
} as const satisfies Answer;

function refusedHeaders({ headers }: Call, origins: ReadonlySet<string>): Answer | null {
  const { origin, accept, "mcp-protocol-version": protocol } = headers;
  if (origin !== undefined && !origins.has(origin)) return refusal(403, "Origin not allowed");
  if (protocol !== undefined && !mcpProtocolVersions.some((spoken) => spoken === protocol))
    return refusal(400, "unsupported MCP-Protocol-Version");
  if (accept !== undefined && !/application\/json|\*\/\*/i.test(accept)) return refusal(406, "Accept application/json");
  return null;
}

/** Null when it is larger than allowed. */
async function bodyOf({ bytes }: Call, bytesMax: number): Promise<Buffer | null> {
  try {
    return await bytes(bytesMax);
  } catch (error) {
    if (error instanceof BadBody && error.isTooLarge) return null;
    throw error;
  }
}

type Message = { readonly fields: Readonly<Record<string, unknown>> } | { readonly refused: Answer };

function readMessage(body: Buffer | null): Message {
  if (body === null) return { refused: refusal(413, "request body too large") };
  if (body.length === 0) return { refused: refusal(400, "empty request body") };
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return { refused: refusal(400, "malformed JSON") };
  }
  if (Array.isArray(parsed)) return { refused: refusal(400, "batching unsupported") };
  return isFields(parsed) ? { fields: parsed } : { refused: refusal(400, "malformed JSON") };
}

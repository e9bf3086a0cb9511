import type { Scope } from "../config/model.ts";
import type { Fields } from "./control-plane.ts";

/** The MCP server as the HTTP interface sees it: messages in, messages out (http 7.11). Present while `mcp.enabled`. */
export interface McpEndpoint {
  /** Exact values of `Origin` that browsers may come from. */
  readonly allowedOrigins: readonly string[];
  readonly bodyBytesMax: number;
  /** The JSON text of the answer, on one line; null for a notification. Never rejects for what the message says. */
  answer(message: Fields, caller: McpCaller): Promise<string | null>;
}

export interface McpCaller {
  /** Of the token; null where none was needed. */
  readonly label: string | null;
  readonly scopes: readonly Scope[];
}

/** Protocol versions that are spoken, the newest first. */
export const mcpProtocolVersions = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;

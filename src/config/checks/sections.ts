/** `mcp` and `push` against the rest, and against the addresses others can reach (config 7.2, 7.8). */
import { openListeners } from "../build/web.ts";
import type { WebConfig } from "../model.ts";
import type { Whole } from "./whole.ts";

export function checkSections({ sections }: Whole): void {
  const web = sections.web?.config ?? null;
  checkMcp(sections, web);
  checkPush(sections, web);
}

function checkMcp({ mcp }: Whole["sections"], web: WebConfig | null): void {
  if (mcp?.config?.enabled !== true) return;
  if (web === null || web.listen.length === 0)
    mcp.subject.problem(
      ["enabled"],
      "mcp.enabled requires a `web` section with at least one `listen` address: MCP is served by the web API at /mcp",
    );
  else if (!mcp.config.allowUnauthenticated) {
    const gate = openGate("mcp.enabled is set", web, "mcp.allowUnauthenticated");
    if (gate !== null) mcp.subject.problem(["enabled"], gate);
  }
}

function checkPush({ push, state }: Whole["sections"], web: WebConfig | null): void {
  if (push === undefined || push.config === null) return;
  if (state === undefined && push.config.devicesFile === null)
    push.subject.problem(
      [],
      "push: needs durable storage for its paired-device registry: add a `state` section, or set push.devicesFile",
    );
  if (web === null || push.config.allowUnauthenticated) return;
  const gate = openGate("push is configured", web, "push.allowUnauthenticated");
  if (gate !== null) push.subject.problem([], gate);
}

function openGate(what: string, web: WebConfig, escapeKey: string): string | null {
  const open = openListeners(web);
  if (open.length === 0) return null;
  return (
    `${what} but no web.authToken/authTokens is set, and the web API listens on non-loopback address(es) ${open.join(", ")}; ` +
    `set a token, listen on loopback or a unix socket, ask for client certificates (web.tls.clientCa), or set ${escapeKey}: true`
  );
}

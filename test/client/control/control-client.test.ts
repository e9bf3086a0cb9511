import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { type ControlEndpoint, ControlError, controlClient } from "../../../src/client/control/control-client.ts";
import { filesIn } from "../../config/loading.ts";

const shape = z.object({ runKey: z.string() });

/** What a call to a server that answers like this comes to. */
async function asked(answer: RequestListener, over: Partial<ControlEndpoint> = {}): Promise<unknown> {
  const server = createServer(answer);
  const socket = over.url?.replace(/^unix:\/\//, "");
  await new Promise<void>((resolve) =>
    socket === undefined ? server.listen(0, "127.0.0.1", resolve) : server.listen(decodeURIComponent(socket), resolve),
  );
  const { port = 0 } = socket === undefined ? (server.address() as AddressInfo) : {};
  try {
    return await controlClient({ url: `http://127.0.0.1:${port}`, token: null, ...over }).post("/x", shape, { a: 1 });
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return `${error.kind}: ${error.message.replace(String(port), "PORT")}`;
  } finally {
    server.close();
  }
}

const says =
  (status: number, text: string): RequestListener =>
  (_, response) =>
    response.writeHead(status).end(text);

test("an answer is handed on as it was written, and as what it says", async () => {
  const text = '{"runKey": "manual-1", "more": 1.0}\n';
  expect(await asked(says(200, text))).toEqual({ text, value: { runKey: "manual-1" } });
});

test("the body is JSON, and the token's bytes are its UTF-8, over a socket file as well", async () => {
  const url = `unix://${encodeURI(join(filesIn({}), "a socket.sock"))}`;
  const seen = await asked(
    (request, response) => {
      let body = "";
      request.on("data", (part) => {
        body += part;
      });
      request.on("end", () => {
        const bytes = Buffer.from(request.headers.authorization ?? "", "latin1").toString("utf8");
        response.end(JSON.stringify({ runKey: `${request.method} ${request.url} ${bytes} ${body}` }));
      });
    },
    { url, token: "schlüssel" },
  );
  expect(seen).toMatchObject({ value: { runKey: 'POST /x Bearer schlüssel {"a":1}' } });
});

test("a refusal is said in the daemon's words; one for want of a token says where to put it", async () => {
  expect(await asked(says(409, '{"error":"no such run"}'))).toBe("refused: no such run");
  expect(await asked(says(401, '{"error":"401: Unauthorized"}'))).toBe(
    "refused: 401: Unauthorized; give a token with --token, --token-file or CRONSTABLE_TOKEN",
  );
});

test.each([
  ["another server", 200, '{"hello":1}'],
  ["a page", 200, "<html>"],
  ["another server's refusal", 404, "not here"],
])("%s is no daemon", async (_, status, text) => {
  expect(await asked(says(status, text))).toBe(
    "foreign: what answers at http://127.0.0.1:PORT is no cronstable daemon, or one of another age; name another address with --url",
  );
});

test("nobody there, or somebody who hangs up, is told with the address and what to do", async () => {
  const hangsUp: RequestListener = (request) => request.socket.destroy();
  expect(await asked(hangsUp)).toBe(
    "unreachable: the daemon cannot be reached at http://127.0.0.1:PORT (socket hang up); name another address with --url, or start it",
  );
  const cut: RequestListener = (request, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("{", () => request.socket.destroy());
  };
  expect(await asked(cut)).toMatch(/^unreachable: .*\(aborted\)/);
  const nobody = `unix://${join(filesIn({}), "none.sock")}`;
  await expect(controlClient({ url: nobody, token: null }).get("/x", shape)).rejects.toThrow(/ENOENT.*--url/);
});

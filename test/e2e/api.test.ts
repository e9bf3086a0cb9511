import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { type Folder, withApi, withFolder } from "../support/daemon-process.ts";

/** Sends bytes and keeps the connection. */
async function opened(
  port: number,
  text: string,
): Promise<{ socket: Socket; got(): string; closed: Promise<unknown> }> {
  const socket = connect(port, "127.0.0.1");
  let got = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    got += chunk;
  });
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  socket.write(text);
  return { socket, got: () => got, closed };
}

/** A job that runs until something is written to the pipe. */
function piped(folder: Folder): string {
  execFileSync("mkfifo", [`${folder.path}/pipe`]);
  return `{name: long, schedule: "@reboot", captureStdout: true, command: "echo begun; read line < ${folder.path}/pipe"}`;
}

test("a stop ends streams and cuts connections that do not end, frees the port and the socket file, and exits with 0 (F38)", () =>
  withFolder(async (folder) => {
    const { daemon, port } = await withApi(folder, piped(folder));
    await daemon.seen(/begun/);
    const kept = await opened(port, "GET /version HTTP/1.1\r\nHost: x\r\n\r\n");
    const half = await opened(port, "POST /jobs/long/start HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
    const tails = await Promise.all([1, 2].map(() => opened(port, "GET /jobs/long/logs HTTP/1.1\r\nHost: x\r\n\r\n")));
    await expect.poll(() => tails.every((tail) => tail.got().includes("begun"))).toBe(true);
    await expect.poll(kept.got).toContain("200 OK");
    folder.write("pipe", "go\n");
    daemon.child.kill("SIGTERM");
    expect(await daemon.ended).toBe(0);
    await Promise.all([kept, half, ...tails].map(({ closed }) => closed));
    for (const tail of tails) expect(tail.got()).toMatch(/event: end\ndata: \{.*\}\n\n\r\n0\r\n\r\n$/);
    const refused = connect(port, "127.0.0.1");
    expect(await once(refused, "error")).toMatchObject([{ code: "ECONNREFUSED" }]);
    expect(existsSync(`${folder.path}/api.sock`)).toBe(false);
  }));

test("POST /shutdown: refused without tokens, with one the daemon ends when its runs have (acceptance 19)", () =>
  withFolder(async (folder) => {
    const open = await withApi(folder, "");
    expect((await fetch(`${open.url}/shutdown`, { method: "POST" })).status).toBe(403);
    expect((await fetch(`${open.url}/version`)).status).toBe(200);
    open.daemon.child.kill("SIGTERM");
    expect(await open.daemon.ended).toBe(0);

    const { daemon, url } = await withApi(folder, piped(folder), ", authToken: {value: t}");
    await daemon.seen(/begun/);
    const authorization = "Bearer t";
    const asked = await fetch(`${url}/shutdown`, { method: "POST", headers: { authorization } });
    expect([asked.status, await asked.json()]).toEqual([200, { shuttingDown: true }]);
    await daemon.seen(/Shutting down/);
    const summary = await fetch(`${url}/summary`, { headers: { authorization } });
    expect(await summary.json()).toMatchObject({ draining: true, jobs: { running: 1 } });
    folder.write("pipe", "go\n");
    expect(await daemon.ended).toBe(0);
    expect(daemon.stderr()).toContain("Job long exit code 0");
  }));

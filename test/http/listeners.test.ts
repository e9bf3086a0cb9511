import { once } from "node:events";
import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectSecurely } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { readListenAddress } from "../../src/http/listen-address.rules.ts";
import { type Certificate, selfSigned } from "../support/certificate.ts";
import { jobConfig } from "../support/job-config.ts";
import { sendRequest, startWebNode, type WebNode, webConfig } from "../support/web-node.ts";

const folder = mkdtempSync(join(tmpdir(), "cronstable-web-"));
const jobs = [jobConfig({ name: "job" })];
const nodes: WebNode[] = [];
let server: Certificate;
let client: Certificate;
let stranger: Certificate;

beforeAll(() => {
  [server, client, stranger] = [selfSigned(), selfSigned(), selfSigned()];
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function start(web: Parameters<typeof startWebNode>[0]["web"]): Promise<WebNode> {
  const node = await startWebNode({ jobs, web: web ?? {} });
  nodes.push(node);
  return node;
}

function put(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function tlsFiles(name: string, pair: Certificate, clientCa: string | null = null) {
  const ca = clientCa === null ? null : put(`${name}-ca.pem`, clientCa);
  return { cert: put(`${name}.pem`, pair.cert), key: put(`${name}.key`, pair.key), clientCa: ca };
}

async function occupied(): Promise<{ readonly port: number; readonly blocker: Server }> {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
  return { port: (blocker.address() as AddressInfo).port, blocker };
}

test.each([
  ["http://127.0.0.1:8080", { kind: "tcp", secure: false, host: "127.0.0.1", port: 8080 }],
  ["https://[::1]:0", { kind: "tcp", secure: true, host: "::1", port: 0 }],
  ["HTTP://Host.example:1/", { kind: "tcp", secure: false, host: "Host.example", port: 1 }],
  ["unix:///run/x.sock", { kind: "unix", path: "/run/x.sock" }],
  ["http://127.0.0.1", { kind: "unusable", why: "http url needs host and port" }],
  ["http://:8080", { kind: "unusable", why: "http url needs host and port" }],
  ["https://h:99999", { kind: "unusable", why: "https url needs host and port" }],
  ["http://h:80/path", { kind: "unusable", why: "http url needs host and port" }],
  ["ftp://h:1", { kind: "unusable", why: "scheme 'ftp' not supported" }],
  ["127.0.0.1:8080", { kind: "unusable", why: "scheme '' not supported" }],
  ["unix://relative", { kind: "unusable", why: "unix url needs an absolute path" }],
])("%s", (text, address) => {
  expect(readListenAddress(text)).toEqual(address);
});

test("one daemon on plain, secure, IPv6 and socket addresses; a bad one harms none (acceptance 24)", async () => {
  const path = join(folder, "many.sock");
  const tls = tlsFiles("many", server);
  const listen = [
    "http://127.0.0.1:0",
    "ftp://x:1",
    "https://127.0.0.1:0",
    "http://[::1]:0",
    `unix://${path}`,
    "http://127.0.0.1",
  ];
  const node = await start({ listen, tls, socketMode: 0o660 });
  const [plain = 0, secure = 0, six = 0] = node.web.addresses().flatMap(({ port }) => (port === null ? [] : [port]));
  const version = (await node.get("/version")).text;
  const ways = [
    { port: plain },
    { port: secure, tls: { ca: server.cert } },
    { port: six, host: "::1" },
    { socketPath: path },
  ];
  for (const to of ways) expect((await node.ask("GET", "/version", { to })).text).toBe(version);
  expect(statSync(path).mode & 0o777).toBe(0o660);
  expect(node.logged.lines).toContain("WARNING Ignoring web listen url ftp://x:1: scheme 'ftp' not supported");
  expect(node.logged.lines).toContain("WARNING Ignoring web listen url http://127.0.0.1: http url needs host and port");
  expect(node.logged.lines).toContain(`INFO web: started listening on http://127.0.0.1:0 (port ${plain})`);
  expect(node.logged.lines).toContain(`INFO web: started listening on unix://${path}`);
  await node.web.stop();
  expect(() => lstatSync(path)).toThrow(/ENOENT/);
});

test("a port that is taken is tried again each minute, and complained about once (acceptance 24)", async () => {
  const { port, blocker } = await occupied();
  const address = `http://127.0.0.1:${port}`;
  const node = await start({ listen: [address] });
  await node.web.check();
  const about = (text: string): number => node.logged.lines.filter((line) => line.startsWith(text)).length;
  expect(about(`WARNING web: could not listen on ${address}: listen EADDRINUSE`)).toBe(1);
  expect(about("ERROR web: no listen address could be bound, so the web API is not up; retrying")).toBe(2);
  node.scheduler.startJob("job", null);
  expect(node.runs).toHaveLength(1);
  await new Promise((resolve) => blocker.close(resolve));
  await node.web.check();
  expect((await sendRequest(port, "GET", "/version")).status).toBe(200);
});

test("a stale socket is replaced; one that is served, and a file that is no socket, are left alone (acceptance 25, F53)", async () => {
  const path = join(folder, "taken.sock");
  const first = await start({ listen: [`unix://${path}`] });
  const second = await start({ listen: [`unix://${path}`] });
  expect(second.logged.lines).toContain(
    `WARNING web: could not listen on unix://${path}: address already in use: another process serves ${path}`,
  );
  expect((await first.ask("GET", "/version", { to: { socketPath: path } })).status).toBe(200);
  await second.web.stop();
  expect(lstatSync(path).isSocket()).toBe(true);
  await first.web.stop();

  const plain = put("plain.sock", "precious");
  const third = await start({ listen: [`unix://${plain}`, "http://127.0.0.1:0"] });
  expect(readFileSync(plain, "utf8")).toBe("precious");
  expect(third.logged.lines).toContain(
    `WARNING web: could not listen on unix://${plain}: ${plain} exists and is not a socket`,
  );
  expect((await third.get("/version")).status).toBe(200);
});

test("a socket file that a dead process left is replaced", async () => {
  const path = join(folder, "stale.sock");
  const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  const { spawnSync } = await import("node:child_process");
  spawnSync(process.execPath, ["-e", script]);
  expect(lstatSync(path).isSocket()).toBe(true);
  const node = await start({ listen: [`unix://${path}`] });
  expect((await node.ask("GET", "/version", { to: { socketPath: path } })).status).toBe(200);
});

test("client certificates: that authority's only, or no HTTP at all (acceptance 26)", async () => {
  const node = await start({ listen: ["https://127.0.0.1:0"], tls: tlsFiles("mutual", server, client.cert) });
  const ask = (pair: Partial<Certificate>) =>
    node.ask("GET", "/version", { to: { port: node.port(), tls: { ca: server.cert, ...pair } } });
  expect((await ask(client)).status).toBe(200);
  await expect(ask({})).rejects.toThrow();
  await expect(ask(stranger)).rejects.toThrow();
  expect((await ask(client)).status).toBe(200);
});

test("plain text to a secure port gets no answer, old TLS no handshake, and both leave it up (acceptance 26)", async () => {
  const node = await start({ listen: ["https://127.0.0.1:0"], tls: tlsFiles("secure", server) });
  const socket = connect(node.port(), "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => {
    received += String(chunk);
  });
  socket.on("error", () => {});
  socket.write("GET /version HTTP/1.1\r\nHost: x\r\n\r\n");
  await new Promise((resolve) => socket.once("close", resolve));
  expect(received).not.toMatch(/HTTP/);
  const old = connectSecurely({
    port: node.port(),
    host: "127.0.0.1",
    ca: server.cert,
    servername: "localhost",
    minVersion: "TLSv1",
    maxVersion: "TLSv1.1",
    ciphers: "DEFAULT@SECLEVEL=0",
  });
  await expect(once(old, "secureConnect")).rejects.toThrow();
  expect((await node.ask("GET", "/version", { to: { port: node.port(), tls: { ca: server.cert } } })).status).toBe(200);
});

test("new certificates are served within a minute; while they are broken the old ones are (acceptance 27)", async () => {
  const tls = tlsFiles("rotated", server);
  const node = await start({ listen: ["https://127.0.0.1:0", "http://127.0.0.1:0"], tls });
  const secure = node.web.addresses().find((bound) => bound.secure)?.port ?? 0;
  const trusts = async (ca: string): Promise<boolean> =>
    node.ask("GET", "/version", { to: { port: secure, tls: { ca } } }).then(
      () => true,
      () => false,
    );
  put("rotated.pem", "half a certif");
  await node.web.check();
  await node.web.check();
  expect(await trusts(server.cert)).toBe(true);
  expect(
    node.logged.lines.filter((line) =>
      /^WARNING web: new TLS material is not yet loadable \(.*\); keeping the running listener and retrying next reload$/.test(
        line,
      ),
    ),
  ).toHaveLength(2);
  put("rotated.pem", stranger.cert);
  put("rotated.key", stranger.key);
  await node.web.check();
  expect([await trusts(server.cert), await trusts(stranger.cert)]).toEqual([false, true]);
  expect(node.web.addresses().find((bound) => bound.secure)?.port).toBe(secure);
});

test("without a certificate at the start no address opens, not even a plain one, until it is there (acceptance 27)", async () => {
  const tls = { cert: join(folder, "late.pem"), key: join(folder, "late.key"), clientCa: null };
  const node = await start({ listen: ["http://127.0.0.1:0", "https://127.0.0.1:0"], tls });
  expect(node.web.addresses()).toEqual([]);
  expect(node.logged.lines.at(-1)).toMatch(
    /^ERROR web: TLS material is not loadable, so the web API is not starting \(retrying on the next config reload\): ENOENT/,
  );
  tlsFiles("late", server);
  await node.web.check();
  expect(node.web.addresses()).toHaveLength(2);
});

test("another section keeps the addresses that stay, opens and closes the others, and ends tails (acceptance 30)", async () => {
  const [one, two] = [join(folder, "one.sock"), join(folder, "two.sock")];
  const node = await start({ listen: [`unix://${one}`] });
  const inode = lstatSync(one).ino;
  await node.scheduler.startJob("job", null);
  const timers = node.clock.pending;
  const tail = node.ask("GET", "/jobs/job/logs", { to: { socketPath: one } });
  await expect.poll(() => node.clock.pending).toBeGreaterThan(timers); // the tail waits for lines
  await node.web.apply({
    config: webConfig({ listen: [`unix://${one}`, `unix://${two}`], headers: { "X-New": "1" } }),
    mcp: null,
  });
  expect((await tail).text).toBe("event: end\ndata: {}\n\n");
  expect(lstatSync(one).ino).toBe(inode);
  for (const socketPath of [one, two])
    expect((await node.ask("GET", "/version", { to: { socketPath } })).headers["x-new"]).toBe("1");
  await node.web.apply({ config: webConfig({ listen: [`unix://${two}`] }), mcp: null });
  expect(() => lstatSync(one)).toThrow(/ENOENT/);
  await node.web.apply({ config: null, mcp: null });
  expect(node.web.addresses()).toEqual([]);
  expect(node.logged.lines).toContain("INFO web: configuration changed, stopping http server");
});

test("stopping cuts connections that do not end: kept alive, half sent, following a log (F38)", async () => {
  const node = await start({});
  await node.post("/jobs/job/start");
  const sockets = [
    "GET /version HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /jobs/job/pause HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    "GET /jobs/job/logs HTTP/1.1\r\nHost: x\r\n\r\n",
    "",
  ].map((text) => {
    const socket = connect(node.port(), "127.0.0.1");
    socket.on("error", () => {});
    socket.resume();
    socket.write(text);
    return socket;
  });
  await Promise.all(
    sockets.map(
      (socket) => new Promise((resolve) => (socket.connecting ? socket.once("connect", resolve) : resolve(null))),
    ),
  );
  await expect.poll(() => sockets.filter((socket) => socket.bytesRead > 0).length).toBe(2);
  const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve))));
  await node.stop();
  await closed;
});

import type { Socket } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { loggableAnswer } from "../../src/report/webhook-redaction.rules.ts";
import { type Certificate, selfSigned } from "../support/certificate.ts";
import { rawServer } from "../support/mail-server.ts";
import { webReceiver } from "../support/web-receiver.ts";
import { block, captured, failedRun, secret, succeededRun } from "./support/facts.ts";
import { closing, startReporting } from "./support/reporting.ts";

let certificate: Certificate;
beforeAll(() => {
  certificate = selfSigned();
});

const path = "/services/TOPSECRET/hook?token=TOPSECRET2&x=1";

test("the default body is the text as JSON (acceptance 33)", async () => {
  const receiver = closing(await webReceiver());
  const { reporting, lines } = startReporting();
  await reporting.report(
    block({ webhook: { url: secret(`${receiver.url}${path}`) } }),
    failedRun({ stderr: captured("disk full\n") }, { name: "fail" }),
  );
  const [request] = receiver.requests;
  expect(request).toMatchObject({ method: "POST", url: path });
  expect(request?.headers["content-type"]).toBe("application/json");
  expect(request?.body).toBe(
    String.raw`{"text": "Cron job \u0027fail\u0027 failed\n\n(job failed because command exited with code 1)\n\ndisk full\n\n\n"}`,
  );
  expect(lines).toEqual([]);
});

test("output of any kind makes a body that parses, and stays literal in it (F41)", async () => {
  const receiver = closing(await webReceiver());
  const { reporting } = startReporting();
  const output = 'say "hi"\nback\\slash\t\0 😀 \\ud800 \ud800 {{ 7*7 }} {% raw %} </script> \u2028 \x7f é';
  await reporting.report(
    block({ webhook: { url: secret(receiver.url) } }),
    failedRun({ stderr: captured(output), stdout: captured("{{ name }}") }),
  );
  const body = receiver.requests[0]?.body ?? "";
  expect(body).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(body).text).toContain(output);
  expect(JSON.parse(body).text).toContain("{{ name }}");
});

test("method, content type, headers and body are as configured, headers verbatim", async () => {
  const receiver = closing(await webReceiver());
  const { reporting, lines } = startReporting();
  await reporting.report(
    block({
      webhook: {
        url: secret(receiver.url),
        method: "put",
        contentType: "text/plain",
        headers: { "X-A": "{{ name }}", "content-type": "text/x-mine", Authorization: "Bearer abc" },
        body: "[{{ stdout }}][{{ success }}][{{ exit_code }}] é\n",
      },
    }),
    succeededRun(),
  );
  const [request] = receiver.requests;
  expect(request?.method).toBe("PUT");
  expect(request?.headers).toMatchObject({
    "x-a": "{{ name }}",
    "content-type": "text/x-mine",
    authorization: "Bearer abc",
  });
  expect(request?.body).toBe("[None][True][0] é");
  expect(lines).toEqual([]);
});

test("connections are used again, and cookies are not kept", async () => {
  const receiver = closing(
    await webReceiver((response) => {
      response.setHeader("Set-Cookie", "a=b");
      response.end("thanks");
    }),
  );
  const { reporting } = startReporting();
  const hook = block({ webhook: { url: secret(receiver.url) } });
  for (let i = 0; i < 3; i++) await reporting.report(hook, failedRun());
  expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 1]);
  expect(receiver.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined, undefined]);
});

test("a kept connection that the receiver closes meanwhile costs no report", async () => {
  const sockets: Socket[] = [];
  const receiver = closing(
    await webReceiver((response) => {
      if (response.socket !== null) sockets.push(response.socket);
      response.end();
    }),
  );
  const { reporting, lines } = startReporting();
  const hook = block({ webhook: { url: secret(receiver.url) } });
  await reporting.report(hook, failedRun());
  sockets[0]?.resetAndDestroy();
  await reporting.report(hook, failedRun());
  expect(receiver.requests).toHaveLength(2);
  expect(lines).toEqual([]);
});

test("an error that echoes the URL is logged without it, on one line and cut (acceptance 33)", async () => {
  const receiver = closing(
    await webReceiver((response, request) => {
      const url = `http://${request.headers.host}${request.url}`;
      response.statusCode = 500;
      response.end(`no ${url}\nnor ${request.url?.replaceAll("&", "&amp;")} with TOPSECRET2 ${"x".repeat(2_000)}`);
    }),
  );
  const { reporting, lines, everything } = startReporting();
  await reporting.report(block({ webhook: { url: secret(`${receiver.url}${path}`) } }), failedRun());
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /^ERROR webhook reporter of job backup: server returned HTTP 500: no <redacted> nor <redacted> with <redacted> x+$/,
  );
  expect(lines[0]?.length).toBe("ERROR webhook reporter of job backup: server returned HTTP 500: ".length + 1_024);
  expect(everything()).not.toContain("TOPSECRET");
});

test("an endless error answer is read no further than needed", async () => {
  const receiver = closing(
    await webReceiver((response, request) => {
      response.statusCode = 503;
      const line = `${request.url} `.repeat(100);
      const pour = (): void => {
        if (!response.destroyed && response.write(line)) setImmediate(pour);
      };
      response.on("drain", pour);
      pour();
    }),
  );
  const { reporting, lines, everything } = startReporting();
  await reporting.report(block({ webhook: { url: secret(`${receiver.url}${path}`) } }), failedRun());
  expect(lines).toEqual([expect.stringMatching(/HTTP 503: (<redacted> )+/)]);
  expect(everything()).not.toContain("TOPSECRET");
});

test("a redirect is not followed and told of (F44)", async () => {
  const other = closing(await webReceiver());
  const receiver = closing(
    await webReceiver((response, request) => {
      response.writeHead(307, { Location: `${other.url}${request.url}` });
      response.end();
    }),
  );
  const { reporting, lines, everything } = startReporting();
  await reporting.report(
    block({ webhook: { url: secret(`${receiver.url}${path}`), headers: { Authorization: "Bearer TOPSECRET" } } }),
    failedRun(),
  );
  expect(other.requests).toEqual([]);
  expect(lines).toEqual([
    "ERROR webhook reporter of job backup: server returned HTTP 307, a redirect, which is not followed; put the final address into webhook.url",
  ]);
  expect(everything()).not.toContain("TOPSECRET");
});

test.each([
  ["a refused port", "http://127.0.0.1:1/TOPSECRET?TOPSECRET", "ECONNREFUSED"],
  ["no URL", "not a url TOPSECRET", "ERR_INVALID_URL"],
  ["a URL of another kind", "ftp://127.0.0.1/TOPSECRET", "ERR_INVALID_PROTOCOL"],
  ["an unknown host", "http://no-such-host.invalid/TOPSECRET", "E[A-Z_]+"],
  ["TLS to a server without it", "https://127.0.0.1:PORT/TOPSECRET", "E[A-Z_]+"],
])("%s: the log names the class of the trouble and never the URL (F44)", async (_what, url, code) => {
  const receiver = closing(await webReceiver());
  const { reporting, lines, everything } = startReporting();
  await reporting.report(
    block({ webhook: { url: secret(url.replace("PORT", receiver.url.split(":")[2] ?? "")) } }),
    failedRun(),
  );
  expect(lines).toEqual([
    expect.stringMatching(
      new RegExp(
        `^ERROR webhook reporter of job backup: request failed \\(${code}\\); check webhook.url and the network$`,
      ),
    ),
  ]);
  expect(everything()).not.toContain("TOPSECRET");
});

test("a certificate that nobody vouches for is refused (F44)", async () => {
  const receiver = closing(await webReceiver(undefined, certificate));
  const { reporting, lines, everything } = startReporting();
  await reporting.report(block({ webhook: { url: secret(`${receiver.url}/TOPSECRET`) } }), failedRun());
  expect(receiver.requests).toEqual([]);
  expect(lines).toEqual([expect.stringContaining("request failed (DEPTH_ZERO_SELF_SIGNED_CERT)")]);
  expect(everything()).not.toContain("TOPSECRET");
});

test("headers that cannot be sent fail this report alone, their values unseen", async () => {
  const receiver = closing(await webReceiver());
  const { reporting, lines, everything } = startReporting();
  const headers = { "X-A": "one\r\nX-TOPSECRET: 1" };
  await reporting.report(block({ webhook: { url: secret(receiver.url), headers } }), failedRun());
  expect(receiver.requests).toEqual([]);
  expect(lines).toEqual([expect.stringContaining("request failed (ERR_INVALID_CHAR)")]);
  expect(everything()).not.toContain("TOPSECRET");
});

test.each([
  ["never answers", () => {}],
  [
    "stops in the middle of the answer",
    (socket: Socket) => socket.write("HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nab"),
  ],
])("a receiver that %s ends at `timeout`, its connection closed (F45)", async (_what, serve) => {
  let asked = (): void => {};
  const request = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const server = closing(
    await rawServer((socket) => {
      socket.once("data", () => {
        serve(socket);
        asked();
      });
    }),
  );
  const clock = simulatedClock(Date.parse("2026-03-01T12:00:00Z"));
  const { reporting, lines } = startReporting({ clock });
  const url = `http://127.0.0.1:${server.port}/TOPSECRET`;
  const report = reporting.report(block({ webhook: { url: secret(url), timeoutSeconds: 20 } }), failedRun());
  await request;
  await clock.runUntilSettled(clock.wallNow() + 19_999);
  expect(lines).toEqual([]);
  await clock.runUntilSettled(clock.wallNow() + 1);
  await report;
  expect(lines).toEqual([
    "ERROR webhook reporter of job backup: request failed (no answer within 20 seconds); check webhook.url and the network",
  ]);
  await server.allClosed();
});

test.each([
  ["https://h.example/hooks/abcdefgh?k=12345678", 'bad "abcdefgh" and 12345678', 'bad "<redacted>" and <redacted>'],
  ["https://h.example/hooks/abcdefgh", String.raw`{"path":"\/hooks\/abcdefgh"}`, '{"path":"<redacted>"}'],
  ["https://h.example/a%2Fbcdefghij", "token a/bcdefghij", "token <redacted>"],
  ["https://user:pass-word-1@h.example/x", "login pass-word-1", "login <redacted>"],
  ["https://h.example/", "see / and //", "see / and //"],
])("an answer from %s is redacted: %s", (url, text, shown) => {
  expect(loggableAnswer(text, false, url, 100)).toBe(shown);
});

test("half a URL at the end of what was read is not shown either", () => {
  const url = "https://h.example/hooks/abcdefghijkl";
  const shown = loggableAnswer(`no ${url} ${"-".repeat(100)} ${url.slice(0, -3)}`, true, url, 1_000);
  expect(shown).toMatch(/^no <redacted> -+$/);
});

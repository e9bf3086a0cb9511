import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { mailboxes } from "../../src/report/mail-address.rules.ts";
import { type Certificate, selfSigned } from "../support/certificate.ts";
import { decodedHeader, mailServer, rawServer } from "../support/mail-server.ts";
import { BODY, block, captured, failedRun, SUBJECT, secret, succeededRun, WEBHOOK } from "./support/facts.ts";
import { closing, startReporting } from "./support/reporting.ts";

let certificate: Certificate;
beforeAll(() => {
  certificate = selfSigned();
});

const ops = { from: "cron@example.com", to: "ops@example.com", smtpHost: "127.0.0.1" };

test("the default texts are the ones that configurations are hashed with", () => {
  const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8);
  expect([SUBJECT, BODY, WEBHOOK].map(digest)).toEqual(["bdcc3831", "0d156261", "fcb33c2a"]);
});

test("a failure is mailed with the default texts (acceptance 32)", async () => {
  const server = closing(await mailServer());
  const { reporting, lines } = startReporting();
  await reporting.report(
    block({ mail: { ...ops, smtpPort: server.port } }),
    failedRun({ stderr: captured("disk full\n"), stdout: captured("copying\n") }),
  );
  const [mail] = server.mails;
  expect(mail).toMatchObject({ from: "cron@example.com", to: ["ops@example.com"] });
  expect(mail?.header("from")).toBe("cron@example.com");
  expect(mail?.header("to")).toBe("ops@example.com");
  expect(mail?.header("subject")).toBe("Cron job 'backup' failed");
  expect(mail?.header("date")).toMatch(/^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} \+0000$/);
  expect(mail?.header("message-id")).toMatch(/^<[^@\s]+@[^@\s]+>$/);
  expect(mail?.header("mime-version")).toBe("1.0");
  expect(mail?.header("content-type")).toMatch(/^text\/plain; charset="?utf-8"?$/);
  expect(mail?.header("content-transfer-encoding")).toBe("7bit");
  expect(mail?.text).toBe(
    "\r\n(job failed because command exited with code 1)\r\n\r\nSTDOUT:\r\n---\r\ncopying\r\n\r\n---\r\nSTDERR:\r\ndisk full\r\n\r\n",
  );
  expect(lines).toEqual([]);
});

test("every recipient gets one RCPT, and is shown as configured", async () => {
  const server = closing(await mailServer());
  const { reporting } = startReporting();
  const to = 'ops@example.com, "Shift, night" <night@example.com>, Müller <m@example.com>';
  await reporting.report(block({ mail: { ...ops, to, smtpPort: server.port } }), failedRun());
  expect(server.mails[0]?.to).toEqual(["ops@example.com", "night@example.com", "m@example.com"]);
  expect(decodedHeader(server.mails[0]?.header("to") ?? "")).toBe(
    'ops@example.com, "Shift, night" <night@example.com>, Müller <m@example.com>',
  );
});

test("a mailbox without a domain is one on the mail server's own host", async () => {
  const heard: string[] = [];
  const server = closing(await rawServer(obliging((text) => heard.push(text))));
  const { reporting, lines } = startReporting();
  await reporting.report(block({ mail: { ...ops, from: "cron", to: "root", smtpPort: server.port } }), failedRun());
  expect(lines).toEqual([]);
  expect(heard).toContain("MAIL FROM:<cron>\r\n");
  expect(heard).toContain("RCPT TO:<root>\r\n");
  expect(heard.join("")).toMatch(/^From: <cron>\r$/m);
  expect(heard.join("")).toMatch(/^To: <root>\r$/m);
});

test("a recipient that the server refuses is logged, the others get the mail", async () => {
  const server = closing(await mailServer({ refuse: (address) => address.startsWith("gone") }));
  const { reporting, lines } = startReporting();
  const to = "ops@example.com,gone@example.com";
  await reporting.report(block({ mail: { ...ops, to, smtpPort: server.port } }), failedRun());
  expect(server.mails[0]?.to).toEqual(["ops@example.com"]);
  expect(lines).toEqual(["ERROR mail: report for job backup: the server refused gone@example.com"]);
});

test("html bodies say so, and job output in them is data", async () => {
  const server = closing(await mailServer());
  const { reporting } = startReporting();
  await reporting.report(
    block({ mail: { ...ops, html: true, body: "<pre>{{ stderr|e }}</pre>", smtpPort: server.port } }),
    failedRun({ stderr: captured("<script>{{ 7*7 }}</script>") }),
  );
  expect(server.mails[0]?.header("content-type")).toMatch(/^text\/html; charset="?utf-8"?$/);
  expect(server.mails[0]?.text.trim()).toBe("<pre>&lt;script&gt;{{ 7*7 }}&lt;/script&gt;</pre>");
});

test("a line break in the subject or in `to` reaches no header (F42)", async () => {
  const server = closing(await mailServer());
  const { reporting, lines } = startReporting();
  await reporting.report(
    block({
      mail: {
        ...ops,
        to: "ops@example.com\nBcc: evil@example.com\r\n",
        subject: "Failed {{ name }}: {{ stderr }}",
        smtpPort: server.port,
      },
    }),
    failedRun({ stderr: captured("first\nBcc: x@example.com\r\nX-Evil: 1") }),
  );
  const [mail] = server.mails;
  expect(mail?.to).toEqual(["ops@example.com"]);
  expect(mail?.header("subject")).toBe("Failed backup: first Bcc: x@example.com X-Evil: 1");
  expect(mail?.headers.map(([name]) => name).sort()).toEqual(
    ["content-transfer-encoding", "content-type", "date", "from", "message-id", "mime-version", "subject", "to"].sort(),
  );
  expect(lines).toEqual([
    'WARNING mail: report for job backup: ignoring "Bcc: evil@example.com", which is no mail address',
  ]);
});

test("text outside ASCII arrives as it was, in header and body (F43)", async () => {
  const server = closing(await mailServer());
  const { reporting } = startReporting();
  const name = "Sauvegarde été — nº 1";
  const output = `avant\r\n.\r\n..deux\n${"x".repeat(5_000)}\nfin 😀\n`;
  await reporting.report(
    block({ mail: { ...ops, subject: `{{ name }} ${"é".repeat(300)}`, body: "{{ stderr }}", smtpPort: server.port } }),
    failedRun({ stderr: captured(output) }, { name }),
  );
  const [mail] = server.mails;
  expect(mail?.headers.filter(([header]) => header === "subject")).toHaveLength(1);
  expect(mail?.source.split("\r\n").every((line) => Buffer.byteLength(line) <= 998)).toBe(true);
  expect(mail?.header("subject")).toMatch(/^[\x20-\x7e]+$/);
  expect(decodedHeader(mail?.header("subject") ?? "")).toBe(`${name} ${"é".repeat(300)}`);
  expect(mail?.text.replaceAll("\r\n", "\n").trim()).toBe(output.replaceAll("\r\n", "\n").trim());
});

test("binary output is carried and harms nothing", async () => {
  const server = closing(await mailServer());
  const { reporting, lines } = startReporting();
  const output = Buffer.from(Array.from({ length: 4_096 }, (_, index) => index % 256)).toString("utf8");
  await reporting.report(
    block({ mail: { ...ops, body: "{{ stderr }}", smtpPort: server.port } }),
    failedRun({ stderr: captured(output) }),
  );
  expect(server.mails[0]?.text).toContain("\0");
  expect(server.mails[0]?.text).toContain("\ufffd");
  expect(lines).toEqual([]);
});

test("100 MB of output make a mail of the start and the end", async () => {
  const server = closing(await mailServer());
  const { reporting, lines } = startReporting();
  const line = `${"x".repeat(999)}\n`;
  const output = `START${line.repeat(100_000)}END`;
  await reporting.report(
    block({ mail: { ...ops, body: "{{ stderr }}", smtpPort: server.port } }),
    failedRun({ stderr: captured(output) }),
  );
  const text = server.mails[0]?.text.trim() ?? "";
  expect(text.length).toBeLessThan(300_000);
  expect(text.startsWith("STARTx")).toBe(true);
  expect(text.endsWith("END")).toBe(true);
  expect(text).toContain("[.... 99750008 characters left out ...]");
  expect(lines).toEqual([]);
});

describe("a blank body (F-52)", () => {
  test("is not sent for a success, and nothing is said about it", async () => {
    const server = closing(await mailServer());
    const { reporting, lines } = startReporting();
    const quiet = block({ mail: { ...ops, body: " {{ stdout }} \n", smtpPort: server.port } });
    await reporting.report(quiet, succeededRun({ stdout: captured(" \n") }));
    expect(server.mails).toEqual([]);
    await reporting.report(quiet, succeededRun({ stdout: captured("done\n") }));
    expect(server.mails).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  test("is sent for a failure", async () => {
    const server = closing(await mailServer());
    const { reporting } = startReporting();
    await reporting.report(block({ mail: { ...ops, body: " ", smtpPort: server.port } }), failedRun());
    expect(server.mails).toHaveLength(1);
  });
});

describe("TLS and login", () => {
  const login = { user: "cron", password: "s3cret-word" };

  test.each([
    ["STARTTLS is used where it is offered", false],
    ["STARTTLS is used where it is asked for", true],
  ])("%s (acceptance 35)", async (_what, starttls) => {
    const server = closing(await mailServer({ starttls: certificate, login }));
    const { reporting, lines } = startReporting();
    await reporting.report(
      block({
        mail: {
          ...ops,
          smtpPort: server.port,
          starttls,
          validateCerts: false,
          username: "cron",
          password: secret(login.password),
        },
      }),
      failedRun(),
    );
    expect(lines).toEqual([]);
    expect(server.mails[0]).toMatchObject({ secure: true, user: "cron" });
  });

  test("TLS from the first byte", async () => {
    const server = closing(await mailServer({ tls: certificate }));
    const { reporting, lines } = startReporting();
    await reporting.report(
      block({ mail: { ...ops, smtpPort: server.port, tls: true, validateCerts: false } }),
      failedRun(),
    );
    expect(lines).toEqual([]);
    expect(server.mails[0]?.secure).toBe(true);
  });

  test("a certificate that nobody vouches for is refused unless the configuration says otherwise", async () => {
    const server = closing(await mailServer({ tls: certificate }));
    const { reporting, lines } = startReporting();
    await reporting.report(block({ mail: { ...ops, smtpPort: server.port, tls: true } }), failedRun());
    expect(server.mails).toEqual([]);
    expect(lines).toEqual([expect.stringMatching(/^ERROR Problem reporting job backup failure: mail: .*self-signed/)]);
  });

  test("STARTTLS that is asked for and not offered fails the report", async () => {
    const server = closing(await mailServer());
    const { reporting, lines } = startReporting();
    await reporting.report(block({ mail: { ...ops, smtpPort: server.port, starttls: true } }), failedRun());
    expect(server.mails).toEqual([]);
    expect(lines).toEqual([expect.stringMatching(/^ERROR Problem reporting job backup failure: mail: .*STARTTLS/)]);
  });

  test("a wrong password fails the report without being shown", async () => {
    const server = closing(await mailServer({ starttls: certificate, login }));
    const { reporting, lines, everything } = startReporting();
    await reporting.report(
      block({
        mail: {
          ...ops,
          smtpPort: server.port,
          validateCerts: false,
          username: "cron",
          password: secret("wrong-TOPSECRET"),
        },
      }),
      failedRun(),
    );
    expect(server.mails).toEqual([]);
    expect(lines).toEqual([expect.stringMatching(/^ERROR Problem reporting job backup failure: mail: Invalid login/)]);
    expect(everything()).not.toContain("TOPSECRET");
    expect(everything()).not.toContain(Buffer.from("wrong-TOPSECRET").toString("base64"));
  });

  test("without a user name there is no login", async () => {
    const server = closing(await mailServer());
    const { reporting, lines } = startReporting();
    await reporting.report(block({ mail: { ...ops, smtpPort: server.port, password: secret("x") } }), failedRun());
    expect(server.mails[0]?.user).toBeNull();
    expect(lines).toEqual([]);
  });
});

describe("a mail server in trouble", () => {
  test("refuses connections", async () => {
    const server = await rawServer(() => {});
    await server.close();
    const { reporting, lines } = startReporting();
    await reporting.report(block({ mail: { ...ops, smtpPort: server.port } }), failedRun());
    expect(lines).toEqual([
      `ERROR Problem reporting job backup failure: mail: connect ECONNREFUSED 127.0.0.1:${server.port}`,
    ]);
  });

  test.each([
    ["never greets", () => {}],
    ["greets and then says nothing more", (socket: { write(text: string): unknown }) => socket.write("220 hello\r\n")],
  ])("%s: the report ends after 60 seconds and the socket is closed (acceptance 32)", async (_what, serve) => {
    const server = closing(await rawServer(serve));
    const clock = simulatedClock(Date.parse("2026-03-01T12:00:00Z"));
    const { reporting, lines } = startReporting({ clock });
    const connected = new Promise<void>((resolve) => {
      const look = (): void => {
        if (server.open.size > 0) resolve();
        else setImmediate(look);
      };
      look();
    });
    const report = reporting.report(block({ mail: { ...ops, smtpPort: server.port } }), failedRun());
    await connected;
    await clock.runUntilSettled(clock.wallNow() + 59_999);
    expect(lines).toEqual([]);
    await clock.runUntilSettled(clock.wallNow() + 1);
    await report;
    expect(lines).toEqual(["ERROR mail: report for job backup did not complete within 60 seconds; giving up on it"]);
    await server.allClosed();
    expect(clock.pending).toBe(0);
  });

  test.each([
    ["at once", "", ""],
    ["after the greeting", "220 hello\r\n", "EHLO"],
    ["in the middle of an answer", "220 hello\r\n250-fi", "EHLO"],
  ])("closes the connection %s", async (_when, says, after) => {
    const server = closing(
      await rawServer((socket) => {
        socket.write(says);
        if (after === "") socket.end();
        else socket.on("data", (heard: Buffer) => heard.includes(after) && socket.end());
      }),
    );
    const { reporting, lines } = startReporting();
    await reporting.report(block({ mail: { ...ops, smtpPort: server.port } }), failedRun());
    expect(lines).toEqual([expect.stringMatching(/^ERROR Problem reporting job backup failure: mail: .+/)]);
    await server.allClosed();
  });

  test("that closes while the text is sent is told of, too", async () => {
    const server = closing(await rawServer(obliging((text, socket) => text.startsWith("From:") && socket.destroy())));
    const { reporting, lines } = startReporting();
    await reporting.report(block({ mail: { ...ops, smtpPort: server.port } }), failedRun());
    expect(lines).toEqual([expect.stringMatching(/^ERROR Problem reporting job backup failure: mail: .+/)]);
    await server.allClosed();
  });

  test("an answer to QUIT is not waited for beyond two seconds: the mail has been taken", async () => {
    const clock = simulatedClock(Date.parse("2026-03-01T12:00:00Z"));
    const { reporting, lines } = startReporting({ clock });
    let quit = (): void => {};
    const asked = new Promise<void>((resolve) => {
      quit = resolve;
    });
    const server = closing(await rawServer(obliging((text) => text.startsWith("QUIT") && quit(), false)));
    const report = reporting.report(block({ mail: { ...ops, smtpPort: server.port } }), failedRun());
    await asked;
    expect(server.open.size).toBe(1);
    await clock.runUntilSettled(clock.wallNow() + 2_000);
    await report;
    await server.allClosed();
    expect(lines).toEqual([]);
  });
});

test("200 mails at once reach the server over at most 20 connections", async () => {
  const server = closing(await mailServer());
  const { reporting, lines } = startReporting();
  const mails = block({ mail: { ...ops, smtpPort: server.port, subject: "{{ name }}" } });
  let most = 0;
  const counting = setInterval(async () => {
    most = Math.max(most, await server.connections());
  }, 1);
  await Promise.all(
    Array.from({ length: 200 }, (_, index) => reporting.report(mails, failedRun({}, { name: `job-${index}` }))),
  );
  clearInterval(counting);
  expect(lines).toEqual([]);
  expect(new Set(server.mails.map((mail) => mail.header("subject"))).size).toBe(200);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(20);
});

test.each([
  ["a@x.org", [{ name: "", address: "a@x.org" }], []],
  [" a@x.org ,b@x.org,", [{ name: "", address: "a@x.org" }, { name: "", address: "b@x.org" }], []], // biome-ignore format: one line
  ["Ann <a@x.org>", [{ name: "Ann", address: "a@x.org" }], []],
  [String.raw`"A, \"B\"" <a@x.org>`, [{ name: 'A, "B"', address: "a@x.org" }], []],
  ["a@[127.0.0.1]", [{ name: "", address: "a@[127.0.0.1]" }], []],
  ["a@x.org>\r\nRCPT TO:<b@x.org", [], ["a@x.org>", "RCPT TO:<b@x.org"]],
  ["a b@x.org", [], ["a b@x.org"]],
  ["", [], []],
])("mailboxes of %j", (value, found, unusable) => {
  expect(mailboxes(value)).toEqual({ mailboxes: found, unusable });
});

/** Says yes to everything; to QUIT only when asked to. */
function obliging(hear: (text: string, socket: Socket) => void, answersQuit = true): (socket: Socket) => void {
  return (socket) => {
    socket.write("220 hello\r\n");
    socket.on("data", (heard: Buffer) => {
      const text = heard.toString();
      hear(text, socket);
      if (text.startsWith("DATA")) socket.write("354 go on\r\n");
      else if (/^(EHLO|MAIL|RCPT)/.test(text) || text.endsWith("\r\n.\r\n")) socket.write("250 fine\r\n");
      else if (text.startsWith("QUIT") && answersQuit) socket.end("221 bye\r\n");
    });
  };
}

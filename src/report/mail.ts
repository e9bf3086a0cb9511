import type { Readable } from "node:stream";
import type { Logger } from "../contract/log.ts";
import type { EpochMs } from "../platform/clock.ts";
import { type Gate, gate } from "./gate.ts";
import { MAIL_LIMIT_MS, MAILS_AT_ONCE_MAX, MAILS_WAITING_MAX } from "./limits.ts";
import { type Mailbox, mailboxes, oneLine } from "./mail-address.rules.ts";
import { type Reporter, type ReporterParts, rendered, type Telling } from "./reporter.ts";
import { resolveSecret } from "./secret.ts";
import { type Deliver, type Envelope, type MailServer, smtp } from "./smtp.ts";
import { aboutOf } from "./story.ts";
import { within } from "./within.ts";

interface Mail {
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly subject: string;
  readonly body: string;
  readonly html: boolean;
  readonly date: EpochMs;
}

/** Mails a report (running 12.1). */
export function mailReporter({ log, clock, turns }: ReporterParts): Reporter {
  let loading: Promise<[Deliver, typeof import("nodemailer/lib/mime-node/index.js")]> | null = null;
  /** By server, while somebody talks to it. */
  const gates = new Map<string, Gate>();

  const send = async (telling: Telling, mail: Mail, signal: AbortSignal): Promise<void> => {
    const server = await serverOf(telling, log);
    if (server === null) return;
    loading ??= Promise.all([smtp(clock), import("nodemailer/lib/mime-node/index.js")]);
    const [deliver, { default: MimeNode }] = await loading;
    const leave = await entered(gates, `${server.host}:${server.port}`, signal);
    try {
      const envelope: Envelope = { from: mail.from.address, to: mail.to.map(({ address }) => address) };
      const message = (): Readable => {
        const node = new MimeNode(`${mail.html ? "text/html" : "text/plain"}; charset=utf-8`);
        node.setHeader("From", { ...mail.from });
        node.setHeader(
          "To",
          mail.to.map((mailbox) => ({ ...mailbox })),
        );
        node.setHeader("Subject", mail.subject);
        node.setHeader("Date", new Date(mail.date).toUTCString().replace("GMT", "+0000"));
        if (costly(mail.body)) node.setHeader("Content-Transfer-Encoding", "base64");
        node.setContent(mail.body);
        return node.createReadStream();
      };
      const { refused } = await turns.take(() => deliver(server, envelope, message, signal));
      if (refused.length > 0)
        log.error(`mail: report for ${aboutOf(telling.story)}: the server refused ${refused.join(", ")}`);
    } finally {
      leave();
    }
  };

  return {
    name: "mail",
    acts: ({ mail }) => Boolean(mail.to) && Boolean(mail.from),
    async tell(telling, cancelled) {
      const mail = composed(telling, clock.wallNow(), log);
      if (mail === null) return;
      const outcome = await within(clock, MAIL_LIMIT_MS, cancelled, (signal) => send(telling, mail, signal));
      if (outcome.kind === "late")
        log.error(
          `mail: report for ${aboutOf(telling.story)} did not complete within ${MAIL_LIMIT_MS / 1_000} seconds; giving up on it`,
        );
    },
  };
}

/** The mail to send; null when there is none to send: no usable address, or a success with nothing to say (F-52). */
function composed({ block: { mail }, story, variables }: Telling, now: EpochMs, log: Logger): Mail | null {
  const subject = oneLine(rendered("mail.subject", mail.subject, variables));
  const body = rendered("mail.body", mail.body, variables);
  if (story.facts.kind === "run" && story.facts.hook === "onSuccess" && body.trim() === "") return null;
  const to = mailboxes(mail.to ?? "");
  const from = mailboxes(mail.from ?? "");
  const about = `mail: report for ${aboutOf(story)}`;
  for (const piece of [...from.unusable, ...to.unusable])
    log.warning(`${about}: ignoring ${JSON.stringify(piece)}, which is no mail address`);
  const [sender] = from.mailboxes;
  if (sender === undefined || to.mailboxes.length === 0) {
    log.error(`${about}: mail.${sender === undefined ? "from" : "to"} holds no mail address; not sending email`);
    return null;
  }
  return { from: sender, to: to.mailboxes, subject, body, html: mail.html, date: now };
}

/** Null when the password cannot be had; logged. */
async function serverOf({ block: { mail } }: Telling, log: Logger): Promise<MailServer | null> {
  const password = await resolveSecret(mail.password, "mail.password");
  if (password.kind === "problem") {
    log.error(`mail: ${password.problem}; not sending email`);
    return null;
  }
  return {
    host: mail.smtpHost || "localhost",
    port: mail.smtpPort,
    tls: mail.tls,
    starttls: mail.starttls,
    validateCerts: mail.validateCerts,
    login: mail.username && password.kind === "secret" ? { user: mail.username, password: password.text } : null,
  };
}

async function entered(gates: Map<string, Gate>, server: string, signal: AbortSignal): Promise<() => void> {
  const door = gates.get(server) ?? gate(MAILS_AT_ONCE_MAX, MAILS_WAITING_MAX);
  gates.set(server, door);
  const leave = await door.enter(signal);
  return () => {
    leave();
    if (door.empty) gates.delete(server);
  };
}

/** Quoted-printable goes character by character; a long body that cannot go as it is goes as base64 instead. */
function costly(body: string): boolean {
  return body.length > 10_000 && !/^(?:[\t\x20-\x7e]{0,76}\r?\n)*[\t\x20-\x7e]{0,76}$/.test(body);
}

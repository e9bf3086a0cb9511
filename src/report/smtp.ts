import type { Readable } from "node:stream";
import type { Clock } from "../platform/clock.ts";
import { MAIL_LIMIT_MS, QUIT_LIMIT_MS } from "./limits.ts";

/** How to reach a mail server, and as whom. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly tls: boolean;
  /** TLS by STARTTLS or nothing; otherwise STARTTLS is used where the server offers it. */
  readonly starttls: boolean;
  readonly validateCerts: boolean;
  readonly login: { readonly user: string; readonly password: string } | null;
}

export interface Envelope {
  readonly from: string;
  readonly to: readonly string[];
}

/** Recipients the server refused while it took the mail for others. */
export interface Accepted {
  readonly refused: readonly string[];
}

/**
 * One conversation with a mail server, from connecting to QUIT (running 12.1). The socket is closed when this settles, however it does.
 *
 * @param message made when the server is ready for it
 * @param signal ends the conversation where it stands
 * @throws what the server or the network said
 */
export type Deliver = (
  server: MailServer,
  envelope: Envelope,
  message: () => Readable,
  signal: AbortSignal,
) => Promise<Accepted>;

type Connection = import("nodemailer/lib/smtp-connection/index.js").default;

/** Loads the mail library. */
export async function smtp(clock: Clock): Promise<Deliver> {
  const { default: SmtpConnection } = await import("nodemailer/lib/smtp-connection/index.js");
  return async (server, envelope, message, signal) => {
    signal.throwIfAborted();
    const connection = new SmtpConnection({
      host: server.host,
      port: server.port,
      secure: server.tls,
      requireTLS: server.starttls && !server.tls,
      tls: { rejectUnauthorized: server.validateCerts },
      socketCloseTimeout: 0,
      connectionTimeout: MAIL_LIMIT_MS,
      greetingTimeout: MAIL_LIMIT_MS,
      socketTimeout: MAIL_LIMIT_MS,
    });
    const abort = (): void => connection.close();
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await conversation(connection, server, envelope, message, clock);
    } finally {
      signal.removeEventListener("abort", abort);
      connection.close();
    }
  };
}

function conversation(
  connection: Connection,
  { login }: MailServer,
  { from, to }: Envelope,
  message: () => Readable,
  clock: Clock,
): Promise<Accepted> {
  return new Promise((resolve, reject) => {
    connection.on("error", reject);
    const broken = (): void => reject(new Error("the server closed the connection"));
    connection.once("end", broken);
    const step = (next: () => void) => (error?: Error | null) => (error ? reject(error) : next());
    const send = (): void => {
      connection.send({ from, to: [...to] }, message(), (error, info) => {
        if (error) return reject(error);
        const refused = (info.rejected ?? []).map(String);
        const done = (): void => {
          cancel();
          resolve({ refused });
        };
        const cancel = clock.after(QUIT_LIMIT_MS, done);
        connection.off("end", broken);
        connection.once("end", done);
        connection.quit();
      });
    };
    connection.connect(
      step(() => {
        if (login === null) send();
        else connection.login({ user: login.user, pass: login.password }, step(send));
      }),
    );
  });
}

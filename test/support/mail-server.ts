import { type AddressInfo, createServer, type Socket } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Certificate } from "./certificate.ts";

/** A mail as it arrived. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header block and body as sent, dot-stuffing undone. */
  readonly source: string;
  /** Unfolded headers, names in lower case, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  header(name: string): string | null;
  /** The body, its transfer encoding undone. */
  readonly text: string;
  readonly secure: boolean;
  readonly user: string | null;
}

export interface MailServerForTest {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Resolves when so many mails are there. */
  received(count: number): Promise<readonly ReceivedMail[]>;
  /** Connections that are open. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** A real mail server on a free port of the loopback interface. */
export async function mailServer(
  options: {
    readonly tls?: Certificate;
    readonly starttls?: Certificate;
    readonly login?: { readonly user: string; readonly password: string };
    readonly refuse?: (recipient: string) => boolean;
  } = {},
): Promise<MailServerForTest> {
  const mails: ReceivedMail[] = [];
  const arrived = new Set<() => void>();
  const server = new SMTPServer({
    secure: options.tls !== undefined,
    ...(options.tls ?? options.starttls ?? {}),
    disabledCommands: [
      ...(options.tls === undefined && options.starttls === undefined ? ["STARTTLS"] : []),
      ...(options.login === undefined ? ["AUTH"] : []),
    ],
    authOptional: options.login === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    onAuth({ username, password }, _session, done) {
      const right = username === options.login?.user && password === options.login?.password;
      if (right) done(null, { user: username });
      else done(new Error("no such login"));
    },
    onRcptTo({ address }, _session, done) {
      if (options.refuse?.(address)) done(new Error("no such mailbox"));
      else done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push(
          parsed(Buffer.concat(chunks).toString("utf8"), {
            from: mailFrom === false ? "" : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            secure: session.secure,
            user: typeof session.user === "string" ? session.user : null,
          }),
        );
        done();
        for (const wake of arrived) wake();
      });
    },
  });
  server.on("error", () => {}); // clients that refuse the certificate
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    mails,
    received: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (mails.length < count) return;
          arrived.delete(look);
          resolve(mails);
        };
        arrived.add(look);
        look();
      }),
    connections: () => new Promise((resolve) => server.server.getConnections((_error, count) => resolve(count))),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parsed(source: string, session: Pick<ReceivedMail, "from" | "to" | "secure" | "user">): ReceivedMail {
  const split = source.indexOf("\r\n\r\n");
  const block = source.slice(0, split).replace(/\r\n[ \t]+/g, " ");
  const headers = block.split("\r\n").map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const header = (name: string): string | null => headers.find(([known]) => known === name)?.[1] ?? null;
  return {
    ...session,
    source,
    headers,
    header,
    text: decoded(source.slice(split + 4), header("content-transfer-encoding")),
  };
}

function decoded(body: string, encoding: string | null): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8");
  if (encoding !== "quoted-printable") return body;
  const bytes = body
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** RFC 2047 undone, for looking at subjects. */
export function decodedHeader(value: string): string {
  return value
    .replace(/(\?=)\s+(=\?)/g, "$1$2")
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_whole, kind: string, text: string) =>
      kind.toLowerCase() === "b"
        ? Buffer.from(text, "base64").toString("latin1")
        : text
            .replaceAll("_", " ")
            .replace(/=([0-9A-F]{2})/g, (_hex, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    )
    .replace(/[\x80-\xff]+/g, (bytes) => Buffer.from(bytes, "latin1").toString("utf8"));
}

export interface RawServer {
  readonly port: number;
  /** Sockets that are open now. */
  readonly open: ReadonlySet<Socket>;
  /** Resolves when no socket is open, at least one having been. */
  allClosed(): Promise<void>;
  close(): Promise<void>;
}

/** A server that speaks as the test says: nothing, half a sentence, nonsense. */
export async function rawServer(serve: (socket: Socket) => void): Promise<RawServer> {
  const open = new Set<Socket>();
  const waiting = new Set<() => void>();
  let seen = 0;
  const server = createServer((socket) => {
    seen++;
    open.add(socket);
    socket.on("error", () => {}); // the client may leave as it likes
    socket.on("close", () => {
      open.delete(socket);
      for (const look of waiting) look();
    });
    serve(socket);
    socket.resume(); // what nobody listens to is read away, or the end of the connection would go unseen
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    open,
    allClosed: () =>
      new Promise((resolve) => {
        const look = (): void => {
          if (seen > 0 && open.size === 0) resolve();
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

/** A mail server and a web server in a process of their own, so that what they cost is not counted as ours. Started by `report.ts`. */
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";

const web = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.end("ok"));
});

/** As much SMTP as a client needs, one answer for each command. */
const mail = createTcpServer((socket: Socket) => {
  let inText = false;
  let heard = "";
  socket.on("error", () => {}); // a client that leaves
  socket.write("220 bench\r\n");
  socket.on("data", (chunk: Buffer) => {
    heard += chunk.toString("latin1");
    for (;;) {
      const ending = inText ? "\r\n.\r\n" : "\r\n";
      const end = heard.indexOf(ending);
      if (end === -1) return;
      const command = heard.slice(0, end).toUpperCase();
      heard = heard.slice(end + ending.length);
      if (inText) {
        inText = false;
        socket.write("250 taken\r\n");
      } else if (command.startsWith("DATA")) {
        inText = true;
        socket.write("354 go on\r\n");
      } else if (command.startsWith("QUIT")) socket.end("221 bye\r\n");
      else socket.write("250 fine\r\n");
    }
  });
});

const listening = (server: typeof web | typeof mail): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));

const ports = { web: await listening(web), mail: await listening(mail) };
process.send?.(ports);
process.on("disconnect", () => process.exit(0));

/**
 * The load of `http.ts`, in a process of its own: `http-load.program.ts <port> <path> <seconds> <connections> [header …]`. Keeps so many connections
 * busy, one request each at a time, and prints how many answers came per second.
 */
import { connect } from "node:net";

const [port = "", path = "", seconds = "1", connections = "1", ...headers] = process.argv.slice(2);
const request = Buffer.from(`GET ${path} HTTP/1.1\r\n${["Host: bench", ...headers].join("\r\n")}\r\n\r\n`);
let answers = 0;

/** Asks again and again; of an answer only its length is looked at. */
function shoot(): void {
  const socket = connect({ port: Number(port), host: "127.0.0.1", noDelay: true });
  let left = 0;
  let head = "";
  socket.on("connect", () => socket.write(request));
  socket.on("error", (error) => {
    console.error(error.message);
    process.exit(1);
  });
  socket.on("data", (chunk) => {
    let body = chunk.length;
    if (left === 0) {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end === -1) return;
      left = Number(/^content-length: (\d+)/im.exec(head.slice(0, end))?.[1] ?? 0);
      body = head.length - end - 4;
      head = "";
      if (left === 0) return again(socket);
    }
    left -= body;
    if (left === 0) again(socket);
  });
}

function again(socket: ReturnType<typeof connect>): void {
  answers++;
  socket.write(request);
}

for (let index = 0; index < Number(connections); index++) shoot();
setTimeout(() => {
  const from = answers;
  const began = performance.now();
  setTimeout(() => {
    console.log(((answers - from) / (performance.now() - began)) * 1000);
    process.exit(0);
  }, Number(seconds) * 1000);
}, 300); // connections and compilers warm up

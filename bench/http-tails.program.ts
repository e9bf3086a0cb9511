/** `http-tails.program.ts <port> <path> <count>`: follows a log with so many readers until it is killed. */
import { request } from "node:http";

const [port = "", path = "", count = "1"] = process.argv.slice(2);
let open = 0;
for (let index = 0; index < Number(count); index++) {
  const sent = request({ port: Number(port), host: "127.0.0.1", path, agent: false }, (response) => {
    response.resume();
    if (++open === Number(count)) console.log("open");
  });
  sent.end();
}

import type { HttpOut } from "./http-exchange.ts";

/** Connections out that are made, and their library loaded, with the first request. */
export function httpOutWhenUsed(): HttpOut {
  let made: Promise<HttpOut> | null = null;
  return {
    async send(request, signal) {
      made ??= import("./http-out.ts").then(({ httpOut }) => httpOut());
      return (await made).send(request, signal);
    },
    close: () => void made?.then((out) => out.close()),
  };
}

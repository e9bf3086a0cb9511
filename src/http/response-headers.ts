import type { Headers } from "./answer.ts";

/** Puts the configured headers around an answer's own (http 3.4). */
export interface ResponseHeaders {
  /**
   * Names and values in turn, as `writeHead` takes them.
   *
   * @param kind what the answer is: "plain" goes without the configured headers, "stream" and "page" keep some of their own
   */
  around(own: Headers, kind: AnswerKind): string[];
}

export type AnswerKind = "plain" | "decorated" | "stream" | "page";

/** These say how the message is framed and what it holds; a configured one would break it. */
const neverConfigured = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "connection",
]);

const kept: Readonly<Record<AnswerKind, ReadonlySet<string>>> = {
  plain: new Set(),
  decorated: new Set(),
  stream: new Set(["cache-control", "x-accel-buffering"]),
  page: new Set(["etag", "cache-control", "vary"]),
};

/** What a client hands on, it should not guess the type of. */
const always: Headers = [["X-Content-Type-Options", "nosniff"]];

export function responseHeaders(configured: Readonly<Record<string, string>>): ResponseHeaders {
  const usable = Object.entries(configured).filter(([name]) => !neverConfigured.has(name.toLowerCase()));
  const names = new Set(usable.map(([name]) => name.toLowerCase()));
  return {
    around(own, kind) {
      const list: string[] = [];
      const add = ([name, value]: readonly [string, string]): void => {
        list.push(name, value);
      };
      if (kind === "plain" || usable.length === 0) {
        own.forEach(add);
        always.forEach(add);
        return list;
      }
      const ownNames = new Set<string>();
      for (const field of [...own, ...always]) {
        const name = field[0].toLowerCase();
        if (names.has(name) && !kept[kind].has(name)) continue;
        ownNames.add(name);
        add(field);
      }
      for (const field of usable) if (!ownNames.has(field[0].toLowerCase())) add(field);
      return list;
    },
  };
}

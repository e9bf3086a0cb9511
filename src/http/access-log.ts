import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../contract/log.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { LOGGED_HEADER_CHARACTERS_MAX } from "./limits.ts";

/** Writes one line when the response is over (http 2.3). Call it before anything is sent. */
export type AccessLog = (request: IncomingMessage, response: ServerResponse) => void;

export function createAccessLog(log: Logger, clock: Clock): AccessLog {
  let day = { second: Number.NaN, text: "" };
  const instant = (now: EpochMs): string => {
    const second = Math.floor(now / 1000);
    if (second !== day.second) day = { second, text: instantText(now) };
    return day.text;
  };

  return (request, response) => {
    if (!log.enabled("info")) return;
    const { socket } = request;
    const remote = socket.remoteAddress ?? "";
    const before = socket.bytesWritten;
    response.once("close", () => {
      const { method, url = "", httpVersion, headers } = request;
      const line = `${method} ${withoutTokens(url)} HTTP/${httpVersion}`;
      const sent = socket.bytesWritten - before;
      log.info(
        `${remote} [${instant(clock.wallNow())}] "${quotable(line)}" ${response.statusCode} ${sent} "${shown(headers.referer)}" "${shown(headers["user-agent"])}"`,
      );
    });
  };
}

/** The value of every `token` parameter is hidden, however its name is spelled. */
export function withoutTokens(url: string): string {
  const mark = url.indexOf("?");
  if (mark === -1) return url;
  const parameters = url
    .slice(mark + 1)
    .split("&")
    .map((parameter) => {
      const equals = parameter.indexOf("=");
      return equals !== -1 && isToken(parameter.slice(0, equals)) ? "token=***" : parameter;
    });
  return `${url.slice(0, mark)}?${parameters.join("&")}`;
}

function isToken(name: string): boolean {
  return new URLSearchParams(`${name}=`).has("token");
}

function shown(header: string | undefined): string {
  if (header === undefined || header === "") return "-";
  return quotable(withoutTokens(header).slice(0, LOGGED_HEADER_CHARACTERS_MAX));
}

/** Nothing a client sends ends the quotes it stands in, or the line. */
function quotable(text: string): string {
  return text.replace(/["\\\p{Cc}]/gu, (character) =>
    character === '"' || character === "\\"
      ? `\\${character}`
      : `\\x${(character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`,
  );
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `30/Nov/2026:08:52:44 +0000`. */
function instantText(now: EpochMs): string {
  const text = new Date(now).toISOString();
  const month = months[Number(text.slice(5, 7)) - 1] ?? "";
  return `${text.slice(8, 10)}/${month}/${text.slice(0, 4)}:${text.slice(11, 19)} +0000`;
}

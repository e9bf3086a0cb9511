/** Addresses that configuration keys hold. Nothing is resolved: what a name leads to is not known at load. */
import { isIPv4, isIPv6 } from "node:net";

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Reachable from this host only, as far as its text tells: `localhost`, 127/8, ::1. */
export function isLoopback(host: string): boolean {
  const bare = unbracketed(host);
  if (isIPv4(bare)) return bare.startsWith("127.");
  return bare.toLowerCase() === "localhost" || (isIPv6(bare) && canonicalIPv6(bare) === "::1");
}

/** Stands for every address of the host. */
export function isWildcard(host: string): boolean {
  const bare = unbracketed(host);
  return bare === "" || bare === "*" || bare === "0.0.0.0" || (isIPv6(bare) && canonicalIPv6(bare) === "::");
}

export function unbracketed(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

/** Splits `host:port` at its last colon; the port is the text after it, null when there is none. */
export function splitPort(address: string): { readonly host: string; readonly port: string | null } {
  const colon = address.lastIndexOf(":");
  if (colon === -1 || address.indexOf("]", colon) !== -1) return { host: address, port: null };
  return { host: address.slice(0, colon), port: address.slice(colon + 1) };
}

/** A port written in plain decimal digits; null for anything else, and outside of the range. */
export function portOf(text: string | null, lowest: number): number | null {
  if (text === null || !/^[0-9]{1,5}$/.test(text)) return null;
  const port = Number(text);
  return port >= lowest && port <= 65_535 ? port : null;
}

/** The address without what a login it carries would give away: all before the last `@` of its authority. */
export function redacted(url: string): string {
  const at = url.lastIndexOf("@");
  if (at === -1) return url;
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0] ?? "";
  return `${scheme}***@${url.slice(at + 1)}`;
}

/** The host of an `http(s)://` URL, in brackets for IPv6; null when it is no such URL. */
export function httpHost(url: string): string | null {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return null;
  const { hostname } = new URL(url);
  return hostname === "" ? null : hostname;
}

function canonicalIPv6(address: string): string {
  const withoutZone = address.replace(/%.*$/, "");
  return URL.canParse(`http://[${withoutZone}]`) ? unbracketed(new URL(`http://[${withoutZone}]`).hostname) : address;
}

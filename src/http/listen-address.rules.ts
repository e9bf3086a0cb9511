/** Where one entry of `web.listen` is to be served (http 2.1). */
export type ListenAddress =
  | { readonly kind: "tcp"; readonly secure: boolean; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "unusable"; readonly why: string };

const SCHEME = /^([a-z][a-z0-9+.-]*):(.*)$/is;
const AUTHORITY = /^\/\/(\[[^\]]*\]|[^/:[\]]*)(?::(\d*))?\/?$/;

export function readListenAddress(text: string): ListenAddress {
  const [, scheme = "", rest = ""] = SCHEME.exec(text) ?? [];
  switch (scheme.toLowerCase()) {
    case "http":
      return tcp(rest, false);
    case "https":
      return tcp(rest, true);
    case "unix":
      return unix(rest);
    default:
      return unusable(`scheme '${scheme}' not supported`);
  }
}

function tcp(rest: string, secure: boolean): ListenAddress {
  const [, host = "", port = ""] = AUTHORITY.exec(rest) ?? [];
  const bare = host.replace(/^\[|\]$/g, "");
  if (bare === "" || port === "" || Number(port) > 65_535)
    return unusable(`${secure ? "https" : "http"} url needs host and port`);
  return { kind: "tcp", secure, host: bare, port: Number(port) };
}

function unix(rest: string): ListenAddress {
  const path = rest.replace(/^\/\//, "");
  return path.startsWith("/") ? { kind: "unix", path } : unusable("unix url needs an absolute path");
}

function unusable(why: string): ListenAddress {
  return { kind: "unusable", why };
}

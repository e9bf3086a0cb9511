import type { Headers } from "../answer.ts";
import type { Route } from "../call.ts";
import { textDoc } from "../docs.ts";
import type { UiAssets } from "../ui-assets.ts";

/** The dashboard (http 7.12). It holds no data, so nobody is asked for a token. */
export function pageRoutes({ page }: UiAssets): Route[] {
  return [
    {
      method: "GET",
      path: "/",
      scope: "view",
      doc: {
        operationId: "getIndex",
        tag: "ui",
        summary: "The dashboard",
        access: "public",
        answers: { 200: textDoc("One page, with all it needs.", "text/html") },
      },
      handle: () => ({ kind: "page", product: page, headers: protections }),
    },
  ];
}

const policy = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join("; ");

const protections: Headers = [
  ["Cache-Control", "no-cache"],
  ["Content-Security-Policy", policy],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "no-referrer"],
];

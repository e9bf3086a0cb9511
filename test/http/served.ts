import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ControlPlane } from "../../src/contract/control-plane.ts";
import { allRoutes } from "../../src/http/all-routes.ts";
import type { Route } from "../../src/http/call.ts";
import { productOf } from "../../src/http/product.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";

/** Every route there can be, all parts being on. They are described, not called. */
export function describedRoutes(): Route[] {
  return allRoutes({
    control: {} as ControlPlane,
    clock: simulatedClock(0),
    history: null,
    metrics: { text: { render: () => neverCalled() }, isPublic: false },
    mcp: { allowedOrigins: [], bodyBytesMax: 0, answer: async () => null },
    ui: { page: productOf({ contentType: "text/html", body: Buffer.alloc(0), etag: null, vary: "" }) },
  });
}

export const committedDocument = join(import.meta.dirname, "../../openapi.json");

export function committedText(): string {
  return readFileSync(committedDocument, "utf8");
}

function neverCalled(): never {
  throw new Error("routes that are only described are not called");
}

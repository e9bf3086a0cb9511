import type { MetricsText } from "../../metrics/metrics.ts";
import type { Clock } from "../../platform/clock.ts";
import { product } from "../answer.ts";
import type { Route } from "../call.ts";
import { inTurns } from "../in-turns.ts";
import { productOf } from "../product.ts";
import { sharedProduct } from "../shared-product.ts";

/** What Prometheus scrapes (http 10). */
export function metricsRoutes(
  {
    metrics,
    revision,
    clock,
  }: { readonly metrics: MetricsText; readonly revision: () => number; readonly clock: Clock },
  isPublic: boolean,
): Route[] {
  const shared = (format: "text" | "openmetrics") =>
    sharedProduct(clock, revision, async () => {
      const body = await inTurns(clock, metrics.render(format));
      return productOf({ contentType: contentTypes[format], body, etag: null, vary: "Accept, Accept-Encoding" });
    });
  const products = { text: shared("text"), openmetrics: shared("openmetrics") };
  return [
    {
      method: "GET",
      path: "/metrics",
      scope: "view",
      doc: {
        operationId: "getMetrics",
        tag: "metrics",
        summary: "Metrics for Prometheus; OpenMetrics when asked for",
        ...(isPublic ? { access: "public" as const } : {}),
        answers: {
          200: {
            about: "The exposition.",
            content: { "text/plain": "text", "application/openmetrics-text": "text" },
          },
        },
      },
      handle({ headers }) {
        const format = headers.accept?.includes("application/openmetrics-text") ? "openmetrics" : "text";
        const ready = products[format]();
        return ready instanceof Promise ? ready.then((built) => product(built)) : product(ready);
      },
    },
  ];
}

const contentTypes = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
} as const;

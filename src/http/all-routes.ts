import type { ControlPlane } from "../contract/control-plane.ts";
import type { McpEndpoint } from "../contract/mcp-endpoint.ts";
import type { MetricsText } from "../metrics/metrics.ts";
import type { Clock } from "../platform/clock.ts";
import type { Route } from "./call.ts";
import type { NodeHistory } from "./node-history.ts";
import { openApiDocument } from "./openapi.ts";
import { clusterRoutes } from "./routes/cluster.ts";
import { dagRecoveryRoutes } from "./routes/dag-recovery.ts";
import { dagRoutes } from "./routes/dags.ts";
import { identityRoutes } from "./routes/identity.ts";
import { jobActionRoutes } from "./routes/job-actions.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { logRoutes } from "./routes/logs.ts";
import { mcpRoutes } from "./routes/mcp.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { openApiRoutes } from "./routes/openapi.ts";
import { pageRoutes } from "./routes/page.ts";
import { poolRoutes } from "./routes/pools.ts";
import { pushRoutes } from "./routes/push.ts";
import { runRoutes } from "./routes/runs.ts";
import { scheduleRoutes } from "./routes/schedule.ts";
import { stateRoutes } from "./routes/state.ts";
import type { UiAssets } from "./ui-assets.ts";

/** What the routes are about. A part that is null has no routes: its paths are unknown ones. */
export interface Served {
  readonly control: ControlPlane;
  readonly clock: Clock;
  readonly history: NodeHistory | null;
  readonly metrics: { readonly text: MetricsText; readonly isPublic: boolean } | null;
  readonly mcp: McpEndpoint | null;
  readonly ui: UiAssets | null;
}

/** The table of everything that is served (http 6), and the document that describes it. */
export function allRoutes(served: Served): Route[] {
  const { control, clock, metrics, mcp, ui } = served;
  const revision = (): number => control.revision;
  const routes: Route[] = [
    ...identityRoutes(served),
    ...jobRoutes(served),
    ...jobActionRoutes(served),
    ...logRoutes(served),
    ...runRoutes(served),
    ...scheduleRoutes(served),
    ...clusterRoutes(served),
    ...dagRoutes(served),
    ...dagRecoveryRoutes(served),
    ...poolRoutes(served),
    ...stateRoutes(served),
    ...pushRoutes(served),
    ...(metrics === null ? [] : metricsRoutes({ metrics: metrics.text, revision, clock }, metrics.isPublic)),
    ...(mcp === null ? [] : mcpRoutes(mcp)),
    ...(ui === null ? [] : pageRoutes(ui)),
  ];
  const describing: Route[] = openApiRoutes(() => openApiDocument([...routes, ...describing]));
  return [...routes, ...describing];
}

import type { ControlPlane } from "../../contract/control-plane.ts";
import { clusterView, fleetView } from "../../contract/wire/cluster.ts";
import { nodeHistory, nodeView } from "../../contract/wire/node.ts";
import type { Clock } from "../../platform/clock.ts";
import { json, product } from "../answer.ts";
import type { Route } from "../call.ts";
import { jsonDoc } from "../docs.ts";
import type { NodeHistory } from "../node-history.ts";
import { usagePayload } from "../payloads/node.ts";
import { jsonProduct, untaggedJsonProduct } from "../payloads/products.ts";
import { sharedProduct } from "../shared-product.ts";

interface Parts {
  readonly control: ControlPlane;
  readonly clock: Clock;
  /** Null when it is off. */
  readonly history: NodeHistory | null;
}

/** This node, and the others as it sees them (http 7.6). */
export function clusterRoutes({ control, clock, history }: Parts): Route[] {
  const fleet = sharedProduct(
    clock,
    () => control.revision,
    async () => jsonProduct(control.cluster?.fleet() ?? { enabled: false, nodes: [] }),
  );
  return [
    {
      method: "GET",
      path: "/cluster",
      scope: "view",
      doc: {
        operationId: "getCluster",
        tag: "cluster",
        summary: "The cluster as this node sees it",
        answers: { 200: jsonDoc("The view, or `enabled: false`.", clusterView) },
      },
      handle: () => product(untaggedJsonProduct(control.cluster?.view() ?? { enabled: false, peers: [] })),
    },
    {
      method: "GET",
      path: "/fleet",
      scope: "view",
      doc: {
        operationId: "getFleet",
        tag: "cluster",
        summary: "The jobs of all nodes, as gossip brought them",
        conditional: true,
        answers: { 200: jsonDoc("Nodes and their jobs, or `enabled: false`.", fleetView) },
      },
      handle: async () => product(await fleet()),
    },
    {
      method: "GET",
      path: "/node",
      scope: "view",
      doc: {
        operationId: "getNode",
        tag: "cluster",
        summary: "How busy this node is",
        answers: { 200: jsonDoc("Processor and memory.", nodeView) },
      },
      handle() {
        const usage = control.nodeUsage();
        return json({ node_name: control.nodeName(), resources: usage === null ? null : usagePayload(usage) });
      },
    },
    {
      method: "GET",
      path: "/node/history",
      scope: "view",
      doc: {
        operationId: "getNodeHistory",
        tag: "cluster",
        summary: "How busy this node was",
        answers: { 200: jsonDoc("Points, oldest first.", nodeHistory) },
      },
      handle: () =>
        json({
          node_name: control.nodeName(),
          enabled: history !== null,
          interval: history?.intervalSeconds ?? null,
          points: history?.points() ?? [],
        }),
    },
  ];
}

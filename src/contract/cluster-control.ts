import type { ClusterView, FleetView, peerStatuses } from "./wire/cluster.ts";

/** The cluster as this node sees it, in memory: nothing here waits or causes traffic. Present while leadership runs. */
export interface ClusterControl {
  view(): ClusterView;
  fleet(): FleetView;
  /** Null while the view cannot be told. */
  figures(): ClusterFigures | null;
}

export type PeerStatus = (typeof peerStatuses)[number];

/** What metrics and the summary say of the cluster (http 10.2). */
export interface ClusterFigures {
  readonly backend: string;
  readonly nodeName: string;
  readonly distribution: "single-leader" | "spread";
  readonly size: number;
  readonly quorum: number;
  readonly quorate: boolean;
  readonly isLeader: boolean;
  readonly electLeader: boolean;
  readonly leader: string | null;
  readonly conflicts: { readonly nodeName: boolean; readonly size: boolean; readonly policy: boolean };
  /** Null without configured peers. */
  readonly peers: Readonly<Record<PeerStatus, number>> | null;
}

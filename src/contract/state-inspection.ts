import type { StateOverview } from "./wire/state.ts";

/** A look into the durable store: names, numbers, metadata; values of jobs never (http 7.8). Present with a `state` section. */
export interface StateInspection {
  /** Null when the store did not start. A store that is silent for 10 s shows as one that cannot be listed. */
  overview(): Promise<StateOverview | null>;
  /** Documents of a `kv/`, `cursor/` or `idem/` namespace; values of `kv/` are described, not shown. Empty on trouble. */
  documents(namespace: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Newest first. Empty on trouble and for a name that is no stream. */
  records(stream: string, limit: number): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

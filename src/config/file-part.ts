/** What one file gives to a configuration, its includes counted in (config 1.4). */
import type {
  ClusterConfig,
  DagConfig,
  JobConfig,
  LoggingConfig,
  McpConfig,
  NotifyConfig,
  PoolConfig,
  PushConfig,
  StateConfig,
  WebConfig,
} from "./model.ts";
import type { UniqueSection } from "./options/file.ts";
import type { WrittenDefaults } from "./options/job.ts";
import type { Subject } from "./subject.ts";

export interface SectionTypes {
  readonly web: WebConfig;
  readonly cluster: ClusterConfig;
  readonly state: StateConfig;
  readonly mcp: McpConfig;
  readonly logging: LoggingConfig;
  readonly notify: NotifyConfig;
  readonly push: PushConfig;
}

/** A section that stands in some file; its configuration is null when the section was refused. */
export interface SectionEntry<T> {
  readonly config: T | null;
  readonly subject: Subject;
}

export type SectionEntries = { [Section in UniqueSection]?: SectionEntry<SectionTypes[Section]> };

/** `index` in its file's `jobs`; null in a crontab. */
export interface JobEntry {
  readonly config: JobConfig;
  readonly index: number | null;
}

export interface DagEntry {
  readonly config: DagConfig;
  readonly subject: Subject;
}

export interface PoolEntry {
  readonly config: PoolConfig;
  readonly subject: Subject;
}

export interface FilePart {
  readonly jobs: readonly JobEntry[];
  readonly dags: readonly DagEntry[];
  readonly pools: readonly PoolEntry[];
  readonly sections: SectionEntries;
  /** What the file's `defaults` and those of its includes wrote, for the file that includes it. */
  readonly defaults: WrittenDefaults;
}

export const emptyPart: FilePart = { jobs: [], dags: [], pools: [], sections: {}, defaults: {} };

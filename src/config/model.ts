/**
 * The configuration as the daemon uses it: one immutable value, defaults resolved, every reference checked (DESIGN idea 8).
 * `load.ts` makes it from files; nothing else does. Numbers keep the unit of the option they come from, said in the name.
 */
import type { Schedule } from "../schedule/expression.ts";
import type { Zone } from "../schedule/zone.ts";

/** Where a value stands in its file, 1-based as editors count. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Config {
  readonly jobs: readonly JobConfig[];
  readonly dags: readonly DagConfig[];
  readonly pools: ReadonlyMap<string, PoolConfig>;
  readonly web: WebConfig | null;
  readonly mcp: McpConfig | null;
  readonly state: StateConfig | null;
  readonly cluster: ClusterConfig | null;
  readonly notify: NotifyConfig | null;
  readonly push: PushConfig | null;
  readonly logging: LoggingConfig | null;
  /** Findings that do not stop the load: lint, inert options, advisories. Shown once per load. */
  readonly warnings: readonly ConfigWarning[];
  /** Every file that was read, for the reload's signature (config 10). */
  readonly files: readonly string[];
  /** Set in directory mode: its modification time is part of the signature. */
  readonly directory: string | null;
  /** What the files looked like just before they were read; `currentSignature` says what they look like now. */
  readonly signature: string;
}

/** `message` names its job or section and what to do. */
export interface ConfigWarning {
  readonly level: "warning" | "info";
  readonly message: string;
}

/** When a job is due: `@reboot`, a timetable in a zone, or, for a DAG's task, whenever its DAG says so. */
export type Timing =
  | { readonly kind: "reboot" }
  | { readonly kind: "by-dag" }
  | { readonly kind: "timetable"; readonly schedule: Schedule; readonly zone: Zone };

export type Command = string | readonly string[];

export interface JobConfig {
  readonly name: string;
  readonly place: Place;
  readonly command: Command;
  /** The crontab line as configured (mapping form rendered, config 6.1), `@reboot` included; a task has its DAG's, or none. */
  readonly scheduleText: string;
  readonly timing: Timing;
  readonly utc: boolean;
  readonly timezone: string | null;
  readonly enabled: boolean;
  readonly launch: LaunchConfig;
  readonly retry: RetryConfig;
  readonly reports: ReportHooks;
  readonly concurrencyPolicy: "Allow" | "Forbid" | "Replace";
  readonly concurrencyScope: "node" | "cluster";
  readonly clusterPolicy: ClusterPolicy;
  readonly onlyIfLastSucceeded: boolean;
  readonly onMissed: OnMissed;
  readonly startingDeadlineSeconds: number | null;
  readonly catchupJitterSeconds: number;
  readonly archiveOutput: boolean;
  readonly redactArchivedSecrets: boolean;
  readonly sla: SlaConfig;
}

export type ClusterPolicy = "Leader" | "PreferLeader" | "EveryNode";
export type OnMissed = "skip" | "run-once" | "run-all";

/** What one process needs; jobs, DAG tasks share it (config 7.4 launch keys). */
export interface LaunchConfig {
  readonly shell: string;
  readonly captureStdout: boolean;
  readonly captureStderr: boolean;
  readonly saveLimitLines: number;
  readonly maxLineLengthBytes: number;
  readonly streamPrefix: string;
  readonly failsWhen: FailsWhen;
  readonly verify: { readonly command: Command; readonly timeoutSeconds: number } | null;
  /** Infinity allowed; null = no deadline. */
  readonly executionTimeoutSeconds: number | null;
  readonly killTimeoutSeconds: number;
  readonly priority: "idle" | "below-normal" | "normal" | "above-normal" | "high";
  /** env_file below `environment`, in order; later names replaced in place. */
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly envFile: string | null;
  /** Absolute, `~` expanded; null = the daemon's. Existence is the spawn's business. */
  readonly workingDirectory: string | null;
  /** 0-0o7777, null = inherit. */
  readonly umask: number | null;
  readonly identity: Identity | null;
  readonly secrets: readonly { readonly name: string; readonly source: SecretSource }[];
  readonly stateAllowedScopes: readonly string[];
  readonly statsd: { readonly prefix: string; readonly host: string; readonly port: number } | null;
  readonly monitorResources: { readonly intervalSeconds: number; readonly historyPoints: number } | null;
  readonly pool: PoolClaim | null;
  readonly resourceLimits: ResourceLimits | null;
}

export interface FailsWhen {
  readonly producesStdout: boolean;
  readonly producesStderr: boolean;
  readonly nonzeroReturn: boolean;
  readonly always: boolean;
}

/** User and group as configured (for the digest) and as resolved at load (running 1.4). */
export interface Identity {
  readonly user: number | string | null;
  readonly group: number | string | null;
  readonly uid: number | null;
  readonly gid: number | null;
  /** For initgroups; null when the uid has no passwd entry. */
  readonly login: string | null;
}

export interface PoolClaim {
  readonly pool: string;
  readonly slots: number;
  readonly priority: number;
  readonly timeoutSeconds: number;
}

export interface ResourceLimits {
  readonly cpu: number | null;
  readonly memoryBytes: number | null;
  readonly processes: number | null;
  readonly required: boolean;
}

/** `maximumRetries` -1 in the file is "unlimited" here. */
export interface RetryConfig {
  readonly maximumRetries: number | "unlimited";
  readonly initialDelaySeconds: number;
  readonly maximumDelaySeconds: number;
  readonly backoffMultiplier: number;
}

export interface SlaConfig {
  readonly maxTimeSinceSuccessSeconds: number | null;
  readonly lateAfterSeconds: number | null;
  readonly maxRuntimeSeconds: number | null;
}

export interface ReportHooks {
  readonly onFailure: ReportConfig;
  readonly onPermanentFailure: ReportConfig;
  readonly onSuccess: ReportConfig;
  readonly onLate: ReportConfig;
}

/** First non-empty of value, file, environment variable; resolved when used (config 5). All null = not configured. */
export interface SecretSource {
  readonly value: string | null;
  readonly fromFile: string | null;
  readonly fromEnvVar: string | null;
}

export interface ReportConfig {
  readonly sentry: {
    readonly dsn: SecretSource;
    readonly fingerprint: readonly string[];
    readonly level: string | null;
    readonly extra: Readonly<Record<string, string>> | null;
    readonly body: string;
    readonly environment: string | null;
    readonly maxStringLength: number;
  };
  readonly mail: {
    readonly from: string | null;
    readonly to: string | null;
    readonly smtpHost: string | null;
    readonly smtpPort: number;
    readonly subject: string;
    readonly body: string;
    readonly username: string | null;
    readonly password: SecretSource;
    readonly tls: boolean;
    readonly starttls: boolean;
    readonly html: boolean;
    readonly validateCerts: boolean;
  };
  readonly shell: { readonly command: Command | null; readonly shell: string; readonly timeoutSeconds: number };
  readonly webhook: {
    readonly url: SecretSource;
    readonly method: string;
    readonly contentType: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly timeoutSeconds: number;
  };
  readonly push: {
    readonly enabled: boolean;
    readonly priority: "time-sensitive" | "passive";
    readonly includeLogTail: boolean;
  };
  readonly eventlog: { readonly enabled: boolean; readonly source: string; readonly includeOutput: boolean };
  readonly alert: AlertPolicy;
}

/** Ours, additive, all off by default: when a failing job is told of at all. Outside the digest while default. */
export interface AlertPolicy {
  /** Tell only from the Nth failure in a row; 1 = from the first. */
  readonly afterFailures: number;
  /** Tell once when it succeeds again after failures that were told. */
  readonly onRecovery: boolean;
  /** While it stays failed, tell again at most this often; null = tell every failure. */
  readonly remindEverySeconds: number | null;
}

export interface DagConfig {
  readonly name: string;
  readonly place: Place;
  readonly tasks: readonly DagTaskConfig[];
  /** null = started by hand only. */
  readonly scheduleText: string | null;
  readonly timing: Extract<Timing, { kind: "timetable" }> | null;
  readonly utc: boolean;
  readonly timezone: string | null;
  readonly onMissed: OnMissed;
  readonly startingDeadlineSeconds: number | null;
  readonly catchupJitterSeconds: number;
  readonly clusterPolicy: ClusterPolicy;
  readonly enabled: boolean;
  readonly retainRuns: number;
}

export interface DagTaskConfig {
  readonly id: string;
  readonly type: "task" | "sensor" | "approval";
  readonly dependsOn: readonly string[];
  readonly triggerRule: "all_success" | "all_done";
  readonly retries: number;
  readonly retryDelaySeconds: number;
  readonly expand: { readonly fromTask: string; readonly key: string } | null;
  readonly pokeIntervalSeconds: number;
  readonly pokeTimeoutSeconds: number;
  readonly pokeJitterSeconds: number;
  readonly onReject: "fail" | "skip";
  /** Launched under the name `<dag>.<task>`; null for an approval gate without a command. */
  readonly job: JobConfig | null;
}

export interface PoolConfig {
  readonly name: string;
  readonly slots: number;
  readonly maxQueued: number;
}

export type Scope = "view" | "control" | "approve";

export interface WebConfig {
  readonly listen: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedOrigins: readonly string[];
  readonly authToken: SecretSource | null;
  readonly authTokens: readonly {
    readonly source: SecretSource;
    readonly scopes: readonly Scope[];
    readonly label: string | null;
  }[];
  readonly anonymousScopes: readonly "view"[];
  readonly socketMode: number | null;
  readonly tls: { readonly cert: string | null; readonly key: string | null; readonly clientCa: string | null } | null;
  readonly ui: boolean;
  readonly metrics: { readonly public: boolean; readonly durationBuckets: readonly number[] | null } | null;
  readonly nodeHistory: { readonly intervalSeconds: number; readonly points: number } | null;
  readonly bonjour: { readonly name: string | null } | null;
}

export interface McpConfig {
  readonly enabled: boolean;
  readonly readOnly: boolean;
  readonly toolsets: readonly ("observe" | "act" | "dags" | "state")[];
  readonly allowedOrigins: readonly string[];
  readonly allowUnauthenticated: boolean;
  readonly resources: boolean;
  readonly prompts: boolean;
  readonly instructions: string | null;
  readonly maxRows: number;
  readonly maxBodyBytes: number;
}

export type Topology = "auto" | "single-node" | "shared";

export interface StateConfig {
  readonly path: string;
  readonly topology: Topology;
  readonly deploymentId: string | null;
  readonly maxRunsPerJob: number;
  readonly onStoreUnavailable: "degrade" | "fail-closed";
  readonly gcGraceSeconds: number;
  readonly maxOpsPerSecond: number;
  readonly slotTtlSeconds: number;
  readonly jobApi: {
    readonly enabled: boolean;
    readonly listen: string | null;
    readonly maxValueBytes: number;
    readonly maxArtifactBytes: number;
    readonly lockTtlSeconds: number;
    readonly allowNonLoopbackBind: boolean;
    readonly tls: { readonly cert: string | null; readonly key: string | null; readonly ca: string | null } | null;
  };
}

export interface ClusterMesh {
  readonly listen: string;
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly peers: readonly string[];
  readonly nodeName: string;
  readonly intervalSeconds: number;
  readonly driftAfter: number;
  readonly connectTimeoutSeconds: number;
}

export interface ClusterConfig {
  readonly nodeName: string;
  readonly connectTimeoutSeconds: number;
  readonly electLeader: boolean;
  readonly distribution: "single-leader" | "spread";
  readonly backend:
    | { readonly kind: "gossip"; readonly mesh: ClusterMesh }
    | {
        readonly kind: "kubernetes";
        readonly leaseName: string;
        readonly leaseNamespace: string | null;
        readonly leaseDurationSeconds: number;
        readonly renewDeadlineSeconds: number;
        readonly retryPeriodSeconds: number;
        readonly identity: string | null;
        readonly kubeconfig: string | null;
        readonly apiServer: string | null;
        readonly clientLibrary: "auto" | "http" | "library";
      }
    | {
        readonly kind: "etcd";
        readonly endpoints: readonly string[];
        readonly electionName: string;
        readonly ttlSeconds: number;
        readonly username: string | null;
        readonly password: string | null;
        readonly tls: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null } | null;
      }
    | {
        readonly kind: "filesystem";
        readonly path: string;
        readonly electionName: string;
        readonly ttlSeconds: number;
        readonly deploymentId: string | null;
        readonly topology: Topology;
      };
  readonly shareNodeStats: boolean;
  /** The overlay mesh beside a lease backend. */
  readonly observability: ClusterMesh | null;
  /** What is legal and yet unlikely to be meant; logged as warnings each time the manager is started, not on every reload. */
  readonly advisories: readonly string[];
}

export type NotifyEvent = "dag_failure" | "approval_waiting" | "leader_change" | "quorum_loss";

export interface NotifyConfig {
  readonly events: readonly NotifyEvent[];
  readonly report: ReportConfig;
}

export interface PushConfig {
  readonly relay: { readonly url: string; readonly timeoutSeconds: number };
  readonly devicesFile: string | null;
  readonly allowUnauthenticated: boolean;
}

/** The dictConfig-shaped section, its scalars still text (config 7.9). */
export type LoggingConfig = Readonly<Record<string, unknown>>;

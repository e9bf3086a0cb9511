import type { Family } from "./exposition.ts";

/**
 * Every family, in the order of the exposition (http 10.2). `docs/metrics.md` lists the same ones; a test compares them.
 */
export const families = {
  info: { name: "cronstable_info", type: "info", help: "The running build." },
  startTime: { name: "cronstable_start_time_seconds", type: "gauge", help: "When this process started, Unix time." },
  jobSet: {
    name: "cronstable_job_set_info",
    type: "info",
    help: "Fingerprint of the jobs in force, as at /job-set-id.",
  },
  jobs: { name: "cronstable_jobs", type: "gauge", help: "Configured jobs, by whether they are enabled." },
  reloadSuccessful: {
    name: "cronstable_config_last_reload_successful",
    type: "gauge",
    help: "1 when the configuration was valid the last time it was read, 0 when an older one is in force.",
  },
  reloadTime: {
    name: "cronstable_config_last_reload_success_timestamp_seconds",
    type: "gauge",
    help: "When a valid configuration was last read, Unix time.",
  },
  runs: { name: "cronstable_job_runs_total", type: "counter", help: "Rows of the run history, by outcome." },
  retries: { name: "cronstable_job_retries_total", type: "counter", help: "Retries that were launched." },
  permanentFailures: {
    name: "cronstable_job_permanent_failures_total",
    type: "counter",
    help: "Failed runs after which no retry was left.",
  },
  startFailures: {
    name: "cronstable_job_start_failures_total",
    type: "counter",
    help: "Runs whose command could not be launched; they are failures with exit code 127.",
  },
  duration: { name: "cronstable_job_duration_seconds", type: "histogram", help: "How long finished runs took." },
  lastSuccess: {
    name: "cronstable_job_last_success_timestamp_seconds",
    type: "gauge",
    help: "When the job last succeeded, Unix time.",
  },
  lastFailure: {
    name: "cronstable_job_last_failure_timestamp_seconds",
    type: "gauge",
    help: "When the job last failed, Unix time.",
  },
  cpu: {
    name: "cronstable_job_cpu_seconds_total",
    type: "counter",
    help: "Processor time of runs under monitorResources, by mode.",
  },
  peakRss: {
    name: "cronstable_job_peak_rss_bytes",
    type: "gauge",
    help: "Most memory any run under monitorResources was seen to use.",
  },
  slaBreaches: {
    name: "cronstable_job_sla_breaches_total",
    type: "counter",
    help: "How often a check of the job's sla was found broken.",
  },
  refused: {
    name: "cronstable_job_refused_starts_total",
    type: "counter",
    help: "Due slots, retries and starts that did not run, by reason; paused slots are rows with status skipped instead.",
  },
  jobInfo: { name: "cronstable_job_info", type: "info", help: "What the configuration says of the job." },
  enabled: { name: "cronstable_job_enabled", type: "gauge", help: "Whether the job is enabled." },
  paused: { name: "cronstable_job_paused", type: "gauge", help: "Whether the job is paused." },
  late: {
    name: "cronstable_job_late",
    type: "gauge",
    help: "Whether a check of the job's sla is broken now; 0 while paused.",
  },
  running: { name: "cronstable_job_running", type: "gauge", help: "Live runs of the job." },
  nextRun: {
    name: "cronstable_job_next_run_timestamp_seconds",
    type: "gauge",
    help: "When the job fires next, Unix time.",
  },
  lastRun: {
    name: "cronstable_job_last_run_timestamp_seconds",
    type: "gauge",
    help: "When the newest row of the job's history finished, Unix time.",
  },
  lastDuration: {
    name: "cronstable_job_last_run_duration_seconds",
    type: "gauge",
    help: "How long the newest finished run took.",
  },
  lastExitCode: {
    name: "cronstable_job_last_run_exit_code",
    type: "gauge",
    help: "Exit code of the newest finished run.",
  },
  lastRunSuccess: {
    name: "cronstable_job_last_run_success",
    type: "gauge",
    help: "1 when the newest row is a success, 0 for every other outcome.",
  },
  lastCpu: {
    name: "cronstable_job_last_run_cpu_seconds",
    type: "gauge",
    help: "Processor time of the newest finished run, when it was under monitorResources.",
  },
  lastRss: {
    name: "cronstable_job_last_run_max_rss_bytes",
    type: "gauge",
    help: "Most memory of the newest finished run, when it was under monitorResources.",
  },
  dagRuns: {
    name: "cronstable_dag_runs_total",
    type: "counter",
    help: "Runs of the DAG that ended on this node, by verdict.",
  },
  dagAttempts: {
    name: "cronstable_dag_task_attempts_total",
    type: "counter",
    help: "Attempts of the task that ended on this node, by outcome; of a sensor each poke.",
  },
  dagActive: {
    name: "cronstable_dag_active_runs",
    type: "gauge",
    help: "Runs of the DAG that have not ended, as this node saw them last.",
  },
  dagGates: {
    name: "cronstable_dag_gates_waiting",
    type: "gauge",
    help: "Approval gates of the DAG that wait for a decision, as this node saw them last.",
  },
  dagLastSuccess: {
    name: "cronstable_dag_last_success_timestamp_seconds",
    type: "gauge",
    help: "When a run of the DAG last succeeded on this node, Unix time.",
  },
  droppedWrites: {
    name: "cronstable_state_dropped_writes_total",
    type: "counter",
    help: "Durable writes that were lost, by what they were for. The one to alert on.",
  },
  store: { name: "cronstable_state_info", type: "info", help: "The durable store of this node." },
  storeOps: { name: "cronstable_state_ops_total", type: "counter", help: "Finished operations of the durable store." },
  storeErrors: {
    name: "cronstable_state_op_errors_total",
    type: "counter",
    help: "Operations of the durable store that failed.",
  },
  storeSeconds: {
    name: "cronstable_state_op_seconds_total",
    type: "counter",
    help: "Time spent inside operations of the durable store.",
  },
  storeLocks: {
    name: "cronstable_state_lock_acquisitions_total",
    type: "counter",
    help: "Locks the durable store has taken.",
  },
  storeLockWait: {
    name: "cronstable_state_lock_wait_seconds_total",
    type: "counter",
    help: "Time the durable store has waited for locks.",
  },
  throttled: {
    name: "cronstable_state_throttled_ops_total",
    type: "counter",
    help: "Operations held back by maxOpsPerSecond.",
  },
  throttleWait: {
    name: "cronstable_state_throttle_wait_seconds_total",
    type: "counter",
    help: "Time operations were held back by maxOpsPerSecond.",
  },
  workersInflight: {
    name: "cronstable_state_workers_inflight",
    type: "gauge",
    help: "Operations of the durable store under way, by lane; one that stays at its capacity has a store that hangs.",
  },
  workersCapacity: {
    name: "cronstable_state_workers_capacity",
    type: "gauge",
    help: "Operations of the durable store that may be under way at once.",
  },
  workersPeak: {
    name: "cronstable_state_workers_peak",
    type: "gauge",
    help: "Most operations of the durable store that were ever under way at once.",
  },
  clusterEnabled: {
    name: "cronstable_cluster_enabled",
    type: "gauge",
    help: "Whether leadership runs on this node.",
  },
  leaderTransitions: {
    name: "cronstable_cluster_leader_transitions_total",
    type: "counter",
    help: "How often this node became leader or ceased to be, looked at once a minute.",
  },
  quorumTransitions: {
    name: "cronstable_cluster_quorum_transitions_total",
    type: "counter",
    help: "How often this node came into a quorum or fell out of it, looked at once a minute.",
  },
  cluster: { name: "cronstable_cluster_info", type: "info", help: "This node's part in its cluster." },
  clusterSize: { name: "cronstable_cluster_size", type: "gauge", help: "Nodes the cluster counts on." },
  clusterQuorum: { name: "cronstable_cluster_quorum", type: "gauge", help: "Nodes that have to agree." },
  quorate: { name: "cronstable_cluster_quorate", type: "gauge", help: "Whether this node is in a quorum." },
  isLeader: {
    name: "cronstable_cluster_is_leader",
    type: "gauge",
    help: "Whether this node leads; 0 under distribution spread, where each job has its own owner.",
  },
  leader: { name: "cronstable_cluster_leader_info", type: "info", help: "The leader as this node sees it." },
  conflict: {
    name: "cronstable_cluster_conflict",
    type: "gauge",
    help: "Contradictions among the nodes; while one is 1, no node runs Leader jobs.",
  },
  peers: { name: "cronstable_cluster_peers", type: "gauge", help: "Configured peers by what is known of them." },
} as const satisfies Readonly<Record<string, Family>>;

export type FamilyName = keyof typeof families;

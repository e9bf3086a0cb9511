import { expect, test } from "vitest";
import { configOf, problemsOf } from "./loading.ts";

const state = "state: {path: /s}\n";

function problems(tasks: string, keys = ""): string[] {
  const text = `${state}dags:\n  - {name: d, ${keys}tasks: [${tasks}]}\n`;
  return problemsOf(text).map((problem) =>
    problem.replace(
      /^cron\.yaml:\d+:\d+: (?:[^ ]+ )?(?:\(job "[^"]*"\): )?(?:[^ ]+: )?(?=dag |when|required|unexpected)/,
      "",
    ),
  );
}

test("a DAG that says only its tasks has the documented defaults (D-CFG-2, D-CFG-5)", () => {
  const config = configOf(`${state}defaults: {timezone: Asia/Tokyo, saveLimit: 7}
dags:
  - name: d
    tasks: [{id: a, command: x}, {id: b, dependsOn: [a, a], command: [y]}]
`);
  const [dag] = config.dags;
  expect(dag).toMatchObject({
    name: "d",
    scheduleText: null,
    timing: null,
    utc: true,
    timezone: null,
    onMissed: "skip",
    startingDeadlineSeconds: null,
    catchupJitterSeconds: 0,
    clusterPolicy: "Leader",
    enabled: true,
    retainRuns: 50,
  });
  expect(dag?.tasks[1]).toMatchObject({
    id: "b",
    type: "task",
    dependsOn: ["a"],
    triggerRule: "all_success",
    retries: 0,
    retryDelaySeconds: 0,
    expand: null,
    pokeIntervalSeconds: 30,
    pokeTimeoutSeconds: 3600,
    pokeJitterSeconds: 0,
    onReject: "fail",
    job: { name: "d.b", command: ["y"], timing: { kind: "by-dag" }, launch: { saveLimitLines: 7 } },
  });
});

test("tasks inherit what is for launching and reporting, and nothing else (D-CFG-7, D-CFG-14)", () => {
  const config = configOf(`${state}pools: {p: {slots: 1}}
defaults:
  environment: [{key: A, value: d}]
  pool: p
  verify: {command: v}
  resourceLimits: {cpu: 1}
  concurrencyPolicy: Forbid
  archiveOutput: yes
  sla: {maxRuntimeSeconds: 1}
  onLate: {report: {mail: {from: a, to: b}}}
  onPermanentFailure: {report: {mail: {from: a, to: b}}}
  onFailure:
    retry: {maximumRetries: 3, initialDelay: 1, maximumDelay: 1, backoffMultiplier: 1}
    report: {mail: {from: a, to: b}}
dags:
  - name: d
    tasks:
      - {id: t, command: x, environment: [{key: B, value: t}], onFailure: {report: {mail: {from: t, to: }}}}
      - {id: gate, type: approval, command: never, dependsOn: [t]}
      - {id: bare, type: approval, dependsOn: [t]}
`);
  const [t, gate, bare] = config.dags[0]?.tasks ?? [];
  expect(t?.job).toMatchObject({
    launch: {
      environment: [
        ["A", "d"],
        ["B", "t"],
      ],
      pool: { pool: "p" },
      verify: { command: "v" },
      resourceLimits: { cpu: 1 },
    },
    retry: { maximumRetries: 0 },
    concurrencyPolicy: "Allow",
    archiveOutput: false,
    sla: { maxRuntimeSeconds: null },
    reports: {
      onFailure: { mail: { from: "t", to: null } },
      onPermanentFailure: { mail: { from: null } },
      onLate: { mail: { from: null } },
    },
  });
  expect(gate?.job?.launch).toMatchObject({ pool: null, verify: null, resourceLimits: null });
  expect(bare?.job).toBeNull();
});

test("a scheduled DAG is due by its own keys", () => {
  const config = configOf(`${state}defaults: {timezone: Asia/Tokyo}
dags:
  - {name: d, schedule: {hour: 2, minute: H}, utc: no, tasks: [{id: a, command: x}]}
`);
  expect(config.dags[0]).toMatchObject({ scheduleText: "H 2 * * *", timing: { zone: { label: "local" } } });
  expect(config.dags[0]?.tasks[0]?.job?.scheduleText).toBe("H 2 * * *");
  expect(config.warnings[0]?.message).toMatch(/^job 'dag:d': schedule 'H 2 \* \* \*': \[hashed-slot\]/);
});

const a = "{id: a, command: x}";

test.each([
  ["", "", ["dag 'd': needs at least one task"]],
  [a, "retainRuns: 0, ", ["dag 'd': retainRuns must be >= 1"]],
  ["{id: a}", "", ["dag 'd': task 'a': needs a command"]],
  ["{id: a, command: ''}", "", ["dag 'd': task 'a': needs a command"]],
  ["{id: a, type: sensor}", "", ["dag 'd': task 'a': needs a command"]],
  [
    "{id: a, command: x, retries: -1}",
    "",
    [
      "dag 'd': task 'a': retries must be >= 0 (the job-level -1 retry-forever sentinel is not supported for dag tasks)",
    ],
  ],
  ["{id: a, command: x, retryDelaySeconds: -1}", "", ["dag 'd': task 'a': retryDelaySeconds must be finite and >= 0"]],
  [
    "{id: a, command: x, pokeIntervalSeconds: nan}",
    "",
    ["dag 'd': task 'a': pokeIntervalSeconds must be finite and >= 0"],
  ],
  [
    "{id: a, command: x, pokeTimeoutSeconds: inf}",
    "",
    ["dag 'd': task 'a': pokeTimeoutSeconds must be finite and >= 0"],
  ],
  ["{id: a, command: x, pokeJitterSeconds: -1}", "", ["dag 'd': task 'a': pokeJitterSeconds must be finite and >= 0"]],
  ["{id: a, command: x, saveLimit: -1}", "", ["dag 'd': task 'a': saveLimit must be >= 0"]],
  ["{id: a, command: x, user: none}", "", ["dag 'd': task 'a': User not found: 'none'"]],
  ["{id: '', command: x}", "", ["dag 'd': a task id must be non-empty"]],
  ["{id: a/b, command: x}", "", ["dag 'd': task id 'a/b' may not contain '#' or '/'"]],
  ["{id: 'a#b', command: x}", "", ["dag 'd': task id 'a#b' may not contain '#' or '/'"]],
  ['{id: "a\\tb", command: x}', "", ["dag 'd': task id 'a\\tb' may not contain control characters"]],
  [`${a}, ${a}`, "", ["dag 'd': duplicate task id 'a'"]],
  ["{id: a, command: x, dependsOn: [z]}", "", ["dag 'd': task 'a' dependsOn unknown task 'z'"]],
  ["{id: a, command: x, dependsOn: [a]}", "", ["dag 'd': task 'a' dependsOn itself"]],
  [
    `{id: c, command: x, dependsOn: [b]}, {id: b, command: x, dependsOn: [c]}, {id: below, command: x, dependsOn: [b]}, ${a}`,
    "",
    ["dag 'd': the dependency graph has a cycle involving: b, below, c"],
  ],
  ["{id: a, command: x, expand: {fromTask: z, key: k}}", "", ["dag 'd': task 'a': expand.fromTask 'z' is not a task"]],
  [
    `${a}, {id: b, command: x, expand: {fromTask: a, key: k}}`,
    "",
    ["dag 'd': task 'b': expand.fromTask 'a' must be a direct dependsOn"],
  ],
  [
    `${a}, {id: b, command: x, dependsOn: [a], expand: {fromTask: a, key: k}}, {id: c, command: x, dependsOn: [b], expand: {fromTask: b, key: k}}`,
    "",
    ["dag 'd': task 'c': expand.fromTask 'b' is itself mapped; chaining mapped tasks is not supported"],
  ],
  [
    `${a}, {id: b, type: sensor, command: x, dependsOn: [a], expand: {fromTask: a, key: k}}`,
    "",
    ["dag 'd': task 'b': only a plain task can be mapped with expand, not a sensor"],
  ],
  [
    `${a}, {id: b, type: approval, dependsOn: [a], expand: {fromTask: a, key: k}}`,
    "",
    ["dag 'd': task 'b': only a plain task can be mapped with expand, not a approval"],
  ],
  ["{id: g, type: approval, pool: p}", "", ["dag 'd': task 'g': approval gates cannot use pool or verify"]],
  [
    "{id: g, type: approval, verify: {command: x}}",
    "",
    ["dag 'd': task 'g': approval gates cannot use pool or verify"],
  ],
  [
    "{id: g, type: approval, resourceLimits: {cpu: 1}}",
    "",
    ["dag 'd': task 'g': resourceLimits is not allowed on an approval gate (it runs no process)"],
  ],
  ["{id: a, command: x, onFailure: {retry: {}}}", "", ["unexpected key not in schema 'retry'"]],
  ["{id: a, command: x, concurrencyPolicy: Allow}", "", ["unexpected key not in schema 'concurrencyPolicy'"]],
  [
    "{id: a, command: x, triggerRule: all_dome}",
    "",
    ["when expecting one of: all_success, all_done; found 'all_dome', did you mean 'all_done'?"],
  ],
  [
    a,
    "schedule: '@reboot', ",
    [
      "dag 'd': schedule '@reboot' is not a cron expression; DAG schedules must be cron expressions (@reboot is not supported for dags)",
    ],
  ],
  [a, "schedule: 99 * * * *, ", ["dag 'd': invalid schedule '99 * * * *': minute value 99 out of range [0, 59]"]],
  [a, "schedule: '@daily', timezone: Mars, ", ["dag 'd': unknown timezone: Mars"]],
  [
    a,
    "schedule: '@daily', startingDeadlineSeconds: 0, ",
    ["dag 'd': Job dag:d: startingDeadlineSeconds must be > 0 when set"],
  ],
  [a, "schedule: '@daily', catchupJitterSeconds: -1, ", ["dag 'd': Job dag:d: catchupJitterSeconds must be >= 0"]],
  [a, "startingDeadlineSeconds: 0, catchupJitterSeconds: -1, ", []],
])("2.4, with D-CFG-2, D-CFG-3, D-CFG-6, D-CFG-14, D-SCH-1: tasks [%s], {%s}: %j", (tasks, keys, expected) => {
  expect(problems(tasks, keys)).toEqual(expected);
});

test("every other printable id is legal (D-CFG-4)", () => {
  expect(problems("{id: 'a b.c:d', command: x}, {id: größe, command: x, dependsOn: ['a b.c:d']}")).toEqual([]);
});

test.each(["''", '"a\\tb"'])("a DAG is not named %s", (name) => {
  expect(problemsOf(`${state}dags: [{name: ${name}, tasks: [{id: a, command: x}]}]\n`)).toEqual([
    "cron.yaml:2:15: dags[0].name: a dag name must be non-empty and free of control characters",
  ]);
});

test("problems of several tasks and DAGs are told together, each at its place", () => {
  expect(
    problemsOf(`${state}dags:
  - name: d
    tasks:
      - {id: a, command: x, saveLimit: no}
      - {id: b, command: x, umask: "9"}
  - name: e
    tasks: [{id: a}]
`),
  ).toEqual([
    `cron.yaml:5:40: dags[0].tasks[0].saveLimit: when expecting an integer, found arbitrary text 'no'`,
    `cron.yaml:8:13: dags[1].tasks[0].command (job "e.a"): dag 'e': task 'a': needs a command`,
  ]);
});

test("names are unique over jobs, DAGs and tasks (D-CFG-15)", () => {
  expect(
    problemsOf(`${state}jobs:
  - {name: a.b.c, command: x, schedule: "@daily"}
  - {name: "dag:s", command: x, schedule: "@daily"}
dags:
  - {name: a, tasks: [{id: b.c, command: x}]}
  - {name: a.b, tasks: [{id: c, command: x}]}
  - {name: a, tasks: [{id: z, command: x}]}
  - {name: s, schedule: "@daily", tasks: [{id: z, command: x}]}
  - {name: "it's", tasks: [{id: z, command: x}]}
  - {name: "it's", tasks: [{id: z, command: x}]}
`),
  ).toEqual([
    "cron.yaml:6:28: dags[0].tasks[0].id: job 'a.b.c' collides with dag 'a' task 'b.c': dag tasks launch under the template name " +
      "'<dag>.<taskId>' and would share that job's concurrency bookkeeping; rename the job or the task",
    "cron.yaml:7:30: dags[1].tasks[0].id: job 'a.b.c' collides with dag 'a.b' task 'c': dag tasks launch under the template name " +
      "'<dag>.<taskId>' and would share that job's concurrency bookkeeping; rename the job or the task",
    "cron.yaml:7:30: dags[1].tasks[0].id: dag 'a' task 'b.c' and dag 'a.b' task 'c' both launch under the template name 'a.b.c' (task ids " +
      "may contain '.', so distinct dag/task pairs can collide); rename one so their runs are not entangled",
    "cron.yaml:8:12: dags[2].name: duplicate dag name(s): a, it's",
    "cron.yaml:9:12: dags[3].name: job 'dag:s' collides with the schedule of dag 's'; rename the job or the dag",
  ]);
});

test("workflows need a store and its endpoint (D-INT-3, CFG-2)", () => {
  const dags = "dags:\n  - {name: e, tasks: [{id: a, command: x}]}\n  - {name: d, tasks: [{id: a, command: x}]}\n";
  expect(problemsOf(dags)).toEqual([
    "cron.yaml:2:5: dags[0]: dags require a `state` section (each dag_run and its per-task state live on the durable store); none is " +
      "configured, offending dag(s): d, e",
  ]);
  expect(problemsOf(`${dags}state: {path: /s, jobApi: {enabled: no}}\n`)).toEqual([
    "cron.yaml:2:5: dags[0]: dags need the state loopback endpoint for XCom and task state, but state.jobApi.enabled is false; " +
      "offending dag(s): d, e",
  ]);
});

test("a task's pool is checked under its template name", () => {
  expect(problemsOf(`${state}dags: [{name: d, tasks: [{id: a, command: x, pool: p}]}]\n`)).toEqual([
    `cron.yaml:2:52: dags[0].tasks[0].pool (job "d.a"): job 'd.a': unknown pool 'p'`,
  ]);
});

test("D-INT-2: workflows beside them change nothing for jobs", () => {
  const jobs = `${state}defaults: {timezone: Asia/Tokyo}\njobs:\n  - {name: j, command: x, schedule: "@daily"}\n`;
  const { jobs: alone } = configOf(jobs);
  expect(configOf(`${jobs}dags:\n  - {name: d, schedule: "@daily", tasks: [${a}]}\n`).jobs).toMatchObject([
    { name: alone[0]?.name, launch: alone[0]?.launch, timing: { zone: { label: "Asia/Tokyo" } } },
  ]);
});

test("D-CFG-16: included DAGs are one list, each under the defaults of its own file", () => {
  const dag = (name: string) => `dags:\n  - {name: ${name}, tasks: [${a}]}\n`;
  const main = `include: [more.yaml]\n${state}defaults: {saveLimit: 7}\n${dag("d")}`;
  const { dags } = configOf(main, {}, "cron.yaml", { "more.yaml": dag("e") });
  expect(dags.map(({ name, tasks }) => [name, tasks[0]?.job?.launch.saveLimitLines]).sort()).toEqual([
    ["d", 7],
    ["e", 4096],
  ]);
  expect(() => configOf(main, {}, "cron.yaml", { "more.yaml": dag("d") })).toThrow("duplicate dag name(s): d");
});

test.each(["retries: 3", "dependsOn: [a]", "triggerRule: all_done", "pokeIntervalSeconds: 1"])(
  "D-CFG-9: what shapes the graph is not for defaults: %s",
  (key) => {
    expect(problemsOf(`${state}defaults: {${key}}\ndags:\n  - {name: d, tasks: [${a}]}\n`)).toEqual([
      expect.stringContaining(`unexpected key not in schema '${key.split(":")[0]}'`),
    ]);
  },
);

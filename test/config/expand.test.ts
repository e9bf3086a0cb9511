import { expect, test } from "vitest";
import { expandText } from "../../src/config/expand.ts";
import { configAt, configOf, filesIn, jobWith, onlyJob, problemsOf } from "./loading.ts";

const variables = { R: "eu", E: "", N: "5", DIR: "/data", "odd name": "never" };

test.each([
  ["${R}", "eu"],
  ["${E}", ""],
  ["${R:-d}", "eu"],
  ["${E:-d}", "d"],
  ["${NONE:-d}", "d"],
  ["${NONE:-}", ""],
  ["${NONE:-a$R$$b}", "a$R$$b"],
  ["$$", "$"],
  ["$${R}", "${R}"],
  ["$R", "$R"],
  ["$", "$"],
  ["${1x}", "${1x}"],
  ["${odd name}", "${odd name}"],
  ["${R", "${R"],
  ["${R:-d", "${R:-d"],
  ["${R-d}", "${R-d}"],
  ["a$$b ${R:-d} ${E:-dflt} $R ${un ${R:-a}b}", "a$b eu dflt $R ${un eub}"],
])("%s becomes %s", (text, expanded) => {
  expect(expandText(text, variables, (name) => expect.unreachable(name))).toBe(expanded);
});

test("a variable that is not set is told by name", () => {
  const unset: string[] = [];
  expandText("${A} ${B:-x} ${R} ${C}", variables, (name) => unset.push(name));
  expect(unset).toEqual(["A", "C"]);
});

test("megabytes of openings that nothing closes cost no more than reading them", () => {
  const text = "${x:-".repeat(400_000);
  expect(expandText(text, {}, () => expect.unreachable())).toBe(text);
  expect(expandText(`${text}}`, {}, () => {})).toHaveLength(text.length - 5);
});

test("values are expanded on the keys that are text, names and include paths among them", () => {
  const directory = filesIn({
    "main.yaml": "include: ['${R}.yaml']\nweb: {listen: ['http://${R}:80'], headers: {command: '${R}'}}\n",
    "eu.yaml": `jobs:
  - name: job-\${R}
    command: x
    schedule: \${NONE:-@daily}
    environment: [{key: "\${R}_KEY", value: "\${R}"}, {key: command, value: "\${R}"}]
    user: "\${NONE:-alice}"
`,
  });
  const config = configAt(`${directory}/main.yaml`, { environment: variables });
  expect(onlyJob(config)).toMatchObject({
    name: "job-eu",
    scheduleText: "@daily",
    launch: { identity: { uid: 1000 } },
  });
  expect(onlyJob(config).launch.environment).toEqual([
    ["eu_KEY", "eu"],
    ["command", "eu"],
  ]);
  expect(config.web).toMatchObject({ listen: ["http://eu:80"], headers: { command: "eu" } });
});

test("what a shell will read is left to it", () => {
  const config = configOf(
    `state: {path: /s}
logging: {version: 1, formatters: {f: {format: "\${R}"}}}
notify: {report: {shell: {command: "\${R}"}}}
defaults:
  shell: /bin/\${R}
  verify: {command: "\${R}"}
  onLate: {report: {shell: {command: ["\${R}"], shell: "\${R}"}}}
  sla: {maxRuntimeSeconds: 5}
jobs:
  - {name: a, command: "echo \${R}", schedule: "@daily"}
dags:
  - name: d
    tasks: [{id: t, command: ["\${R}"]}]
`,
    { environment: variables },
  );
  const [job] = config.jobs;
  expect(job).toMatchObject({
    command: "echo ${R}",
    launch: { shell: "/bin/${R}", verify: { command: "${R}" } },
    reports: { onLate: { shell: { command: ["${R}"], shell: "${R}" } } },
  });
  expect(config.dags[0]?.tasks[0]?.job?.command).toEqual(["${R}"]);
  expect(config.notify?.report.shell.command).toBe("${R}");
  expect(config.logging).toMatchObject({ formatters: { f: { format: "${R}" } } });
});

test("a variable cannot feed a key that is no text, and digits from one stay a name", () => {
  expect(problemsOf(jobWith("saveLimit: ${N}"), { environment: variables })).toEqual([
    `cron.yaml:5:16: jobs[0].saveLimit (job "a"): when expecting an integer, found arbitrary text '\${N}'`,
  ]);
  expect(problemsOf(jobWith("user: ${N}"), { environment: variables })).toEqual([
    `cron.yaml:5:11: jobs[0].user (job "a"): User not found: '5'`,
  ]);
});

test("an unset variable is a problem with its place", () => {
  expect(problemsOf(jobWith("environment: [{key: A, value: 'x ${NONE}'}]"))).toEqual([
    'cron.yaml:5:35: jobs[0].environment[0].value (job "a"): config value jobs[0].environment[0].value references environment ' +
      "variable ${NONE}, which is not set; export it, or write ${NONE:-default} to supply a fallback",
  ]);
  expect(problemsOf("state: {path: '${NONE}'}")).toEqual([
    "cron.yaml:1:15: state.path: config value state.path references environment " +
      "variable ${NONE}, which is not set; export it, or write ${NONE:-default} to supply a fallback",
  ]);
});

/**
 * Who may import whom. The rooms are listed lowest first: a room imports only rooms before it in the list.
 * The other rules are exceptions to that order, each with its reason in `comment`.
 */
const rooms = [
  "platform",
  "schedule",
  "config",
  "contract",
  "store",
  "execution",
  "report",
  "journal",
  "cluster",
  "jobapi",
  "scheduler",
  "dag",
  "metrics",
  "http",
  "mcp",
  "daemon",
  "client",
  "tui",
  "commands",
];

const order = rooms.map((room, index) => ({
  name: `order-${room}`,
  severity: "error",
  comment: `src/${room} imports only rooms listed before it`,
  from: { path: `^src/${room}/` },
  to: { path: `^src/(${[...rooms.slice(index + 1), "main\\.ts", "cronstable\\.ts"].join("|")})(/|$)` },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...order,
    {
      name: "known-room",
      severity: "error",
      comment: "a new folder under src/ needs its place in the list of rooms",
      from: { path: "^src/" },
      to: { path: "^src/", pathNot: `^src/((${rooms.join("|")})/|main\\.ts$|cronstable\\.ts$)` },
    },
    {
      name: "schedule-is-pure",
      severity: "error",
      comment: "calendar mathematics: no Node API, no other room; npm packages that are pure are fine",
      from: { path: "^src/schedule/" },
      to: { pathNot: ["^src/schedule/", "^node_modules/"] },
    },
    {
      name: "deciders-are-pure",
      severity: "error",
      comment:
        "files named *.rules.ts, and the planner of runs with what it is made of, take facts and give decisions; no Node API, " +
        "platform or store; the exact JSON of values is no store",
      from: {
        path: "\\.rules\\.ts$|^src/dag/(plan|pass|run-draft|run-document(-codec)?|recovery-note)\\.ts$",
        pathNot: "^src/(platform|store)/",
      },
      to: {
        path: "^src/(platform|store)/|^(node:|fs$|path$|child_process$|crypto$)",
        pathNot: "^src/store/json[^/]*\\.ts$",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "surfaces-see-the-contract",
      severity: "error",
      comment: "http, mcp and metrics steer through contract/, never through the scheduler or the DAG engine itself",
      from: { path: "^src/(http|mcp|metrics)/" },
      to: { path: "^src/(scheduler|dag)/" },
    },
    {
      name: "clients-see-the-contract",
      severity: "error",
      comment: "clients know the wire, nothing of the daemon's inside; the exact JSON of values is part of the wire",
      from: { path: "^(src/(client|tui)|dashboard)/" },
      to: { path: "^src/", pathNot: "^src/((contract|client|tui)/|store/(json[^/]*|limits)\\.ts$)" },
    },
    {
      name: "only-commands-start-the-daemon",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(daemon|commands)/" },
      to: { path: "^src/daemon/" },
    },
    {
      name: "locks-stay-in-threads",
      severity: "error",
      comment: "opening a store loads no native code into the thread that opens it: its own threads do",
      from: { path: "^src/store/filesystem/(open|volume)\\.ts$" },
      to: { path: "^src/platform/flock\\.ts$", reachable: true },
    },
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "tests-stay-out",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|scripts)/" },
    },
    {
      name: "no-dev-dependencies-in-src",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};

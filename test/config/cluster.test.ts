import { join } from "node:path";
import { expect, test } from "vitest";
import type { ClusterConfig } from "../../src/config/model.ts";
import { configAt, configOf, filesIn, problemsAt, problemsOf } from "./loading.ts";

const tls = "tls: {ca: a, cert: c, key: k}";

function problems(keys: string): string[] {
  return problemsOf(`cluster: {${keys}}`).map((problem) => problem.replace(/^cron\.yaml:\d+:\d+: [^ ]+: /, ""));
}

function cluster(keys: string): ClusterConfig {
  const { cluster } = configOf(`cluster: {${keys}}`);
  if (cluster === null) throw new Error("no cluster");
  return cluster;
}

function peers(listen: string, others: readonly string[], more = ""): readonly string[] {
  const hosts = others.map((host) => `{host: "${host}"}`).join(", ");
  const { backend } = cluster(`listen: "${listen}", ${tls}, peers: [${hosts}]${more}`);
  return backend.kind === "gossip" ? backend.mesh.peers : [];
}

test("a gossip cluster has the documented defaults", () => {
  expect(cluster(`listen: "0.0.0.0:9000", ${tls}, peers: [{host: "b:9000"}]`)).toEqual({
    nodeName: "node-1",
    connectTimeoutSeconds: 10,
    electLeader: false,
    distribution: "single-leader",
    backend: {
      kind: "gossip",
      mesh: {
        listen: "0.0.0.0:9000",
        tls: { ca: "a", cert: "c", key: "k" },
        peers: ["b:9000"],
        nodeName: "node-1",
        intervalSeconds: 30,
        driftAfter: 3,
        connectTimeoutSeconds: 10,
      },
    },
    shareNodeStats: false,
    observability: null,
    advisories: [],
  });
});

test("a gossip cluster must be able to meet", () => {
  expect(problems("backend: gossip")).toEqual(
    [
      "cluster.backend gossip requires cluster.listen",
      "cluster.backend gossip requires cluster.tls",
      "cluster.backend gossip requires cluster.peers",
    ].map((text) => expect.stringContaining(text)),
  );
  expect(problems(`listen: "a:1", tls: {ca: a}, peers: []`)).toEqual(["required key(s) 'cert', 'key' not found"]);
});

test.each([
  ["a", "cluster.listen must be host:port, got 'a'"],
  [":80", "cluster.listen must be host:port, got ':80'"],
  ["a:0", "cluster.listen must be host:port, got 'a:0'"],
  ["a:65536", "cluster.listen must be host:port, got 'a:65536'"],
  ["a:٣", "cluster.listen must be host:port, got 'a:٣'"],
  ["::1:80", "cluster.listen looks like a bare IPv6 address; write it as [ipv6]:port, got '::1:80'"],
  ["[::1]", "cluster.listen must be [ipv6]:port, got '[::1]'"],
  ["[a]:80", "cluster.listen must be [ipv6]:port, got '[a]:80'"],
])("a node cannot listen on %s", (listen, problem) => {
  expect(problems(`listen: "${listen}", ${tls}, peers: []`)).toEqual([problem]);
});

test("peers are addresses too", () => {
  expect(problems(`listen: "a:1", ${tls}, peers: [{host: b}]`)).toEqual(["peers[].host must be host:port, got 'b'"]);
});

test("peers that can only be this node are dropped, whatever merely looks like it stays", () => {
  expect(peers("10.0.0.1:9000", ["10.0.0.1:9000", "b:9000", "b:9000", "127.0.0.1:9000"])).toEqual([
    "b:9000",
    "127.0.0.1:9000",
  ]);
  expect(
    peers("0.0.0.0:9000", ["node-1:9000", "127.0.0.1:9000", "[::1]:9000", "localhost:9000", "127.0.0.1:9001"]),
  ).toEqual(["[::1]:9000", "localhost:9000", "127.0.0.1:9001"]);
  expect(peers("[::]:9000", ["[::1]:9000", "127.0.0.1:9000", "node-1.example:9000"])).toEqual([
    "127.0.0.1:9000",
    "node-1.example:9000",
  ]);
});

test("an election among two is none", () => {
  const elect = `listen: "0.0.0.0:1", ${tls}, electLeader: yes, peers:`;
  const two = [
    expect.stringMatching(
      /^cluster\.electLeader needs a fault-tolerant cluster, but this config declares only 2 nodes \(1 peer\)\. /,
    ),
  ];
  expect(problems(`${elect} [{host: "b:1"}]`)).toEqual(two);
  expect(problems(`${elect} [{host: "b:1"}, {host: "b:1"}, {host: "127.0.0.1:1"}]`)).toEqual(two);
  expect(problems(`${elect} [{host: "node-1:1"}]`)).toEqual([]);
  expect(cluster(`${elect} [{host: "b:1"}, {host: "c:1"}, {host: "d:1"}]`).advisories).toEqual([
    "cluster: 4 nodes tolerate the loss of no more nodes than 3 would; an odd number is better",
  ]);
  expect(cluster(`${elect} [{host: "b:1"}, {host: "node-1.example:1"}]`).advisories).toEqual([
    "cluster.peers node-1.example:1 may be this node itself; without it 2 node(s) are left, too few for an election",
  ]);
});

test("spread without an election does nothing, and says so when the cluster starts", () => {
  const { advisories } = cluster(`listen: "a:1", ${tls}, peers: [], distribution: spread`);
  expect(advisories).toEqual(["cluster.distribution: spread has no effect without cluster.electLeader: true"]);
});

test.each([
  [`listen: "a:1", ${tls}, peers: [], interval: 0`, "cluster.interval must be > 0"],
  [`listen: "a:1", ${tls}, peers: [], driftAfter: 0`, "cluster.driftAfter must be >= 1"],
  [`listen: "a:1", ${tls}, peers: [], connectTimeout: 0`, "cluster.connectTimeout must be > 0"],
  ["backend: etcd, connectTimeout: 0", "cluster.connectTimeout must be > 0"],
  [
    `listen: "a:1", ${tls}, peers: [], etcd: {}`,
    "cluster.etcd is configured but cluster.backend is 'gossip'; that store block would be silently ignored. Set cluster.backend: etcd, or drop the block",
  ],
  [
    "backend: etcd, distribution: spread",
    "cluster.distribution: spread is not supported with the 'etcd' backend (a lease has one holder); use backend: gossip",
  ],
  ["backend: zookeeper", "when expecting one of: gossip, kubernetes, etcd, filesystem; found 'zookeeper'"],
])("cluster: {%s}: %s", (keys, problem) => {
  expect(problems(keys)).toEqual([problem]);
});

test("what a lease backend does not read is told when the cluster starts", () => {
  expect(cluster(`backend: etcd, electLeader: no, listen: "a:1", ${tls}`)).toMatchObject({
    electLeader: true,
    advisories: [
      "cluster.electLeader: false is ignored by the 'etcd' backend; a lease backend always enables leader election",
      "cluster.listen, cluster.tls: ignored by the 'etcd' backend; cluster.tls does not protect the lease store",
    ],
  });
});

test("kubernetes leases have their defaults and their order of times", () => {
  expect(cluster("backend: kubernetes").backend).toEqual({
    kind: "kubernetes",
    leaseName: "cronstable-leader",
    leaseNamespace: null,
    leaseDurationSeconds: 15,
    renewDeadlineSeconds: 10,
    retryPeriodSeconds: 2,
    identity: null,
    kubeconfig: null,
    apiServer: null,
    clientLibrary: "auto",
  });
  const kubernetes = (keys: string): string[] => problems(`backend: kubernetes, kubernetes: {${keys}}`);
  expect(kubernetes("renewDeadlineSeconds: 0")).toEqual(["cluster.kubernetes.renewDeadlineSeconds must be > 0"]);
  expect(kubernetes("leaseDurationSeconds: 10")).toEqual([
    "cluster.kubernetes.leaseDurationSeconds must be > renewDeadlineSeconds",
  ]);
  expect(kubernetes("retryPeriodSeconds: 0")).toEqual(["cluster.kubernetes.retryPeriodSeconds must be > 0"]);
  expect(kubernetes("retryPeriodSeconds: 10, leaseDurationSeconds: 60")).toEqual([
    "cluster.kubernetes.retryPeriodSeconds must be < renewDeadlineSeconds",
  ]);
  expect(kubernetes("renewDeadlineSeconds: 14").join()).toContain("must be < leaseDurationSeconds");
  expect(kubernetes("leaseName: Upper").join()).toContain("cluster.kubernetes.leaseName must be an RFC 1123 subdomain");
  expect(kubernetes("leaseNamespace: a.b").join()).toContain(
    "cluster.kubernetes.leaseNamespace must be an RFC 1123 label",
  );
  expect(kubernetes('apiServer: "http://me:secret@h"')).toEqual([
    "cluster.kubernetes.apiServer must be an https:// URL, got 'http://***@h'",
  ]);
});

test("etcd has its defaults, and never shows a login", () => {
  expect(cluster("backend: etcd").backend).toEqual({
    kind: "etcd",
    endpoints: ["http://127.0.0.1:2379"],
    electionName: "cronstable/leader",
    ttlSeconds: 15,
    username: null,
    password: null,
    tls: null,
  });
  const etcd = (keys: string): string[] => problems(`backend: etcd, etcd: {${keys}}`);
  expect(etcd("endpoints: []")).toEqual(["cluster.etcd.endpoints must name at least one endpoint"]);
  expect(etcd('endpoints: ["me:p@ss@h:1"]')).toEqual([
    "cluster.etcd.endpoints must not carry a login, got '***@h:1'; use cluster.etcd.username and password",
  ]);
  expect(etcd('endpoints: ["h:2379"]')).toEqual(["cluster.etcd.endpoints must be http(s)://host[:port], got 'h:2379'"]);
  expect(etcd('endpoints: ["http://h:0"]')).toEqual([
    "cluster.etcd.endpoints must be http(s)://host[:port], got 'http://h:0'",
  ]);
  expect(etcd("ttl: 2")).toEqual([
    "cluster.etcd.ttl must be >= 3 seconds and finite (a shorter lease lapses between renewals); got 2",
  ]);
  expect(etcd("username: u")).toEqual([
    "cluster.etcd.username and cluster.etcd.password need every endpoint to be https://",
    "cluster.etcd.username needs cluster.etcd.password",
  ]);
  expect(etcd('endpoints: ["https://h"], tls: {cert: c}')).toEqual([
    "cluster.etcd.tls.cert and cluster.etcd.tls.key must be set together",
  ]);
  expect(etcd("tls: {ca: c}")).toEqual(["cluster.etcd.tls is configured but no endpoint uses https://"]);
  expect(cluster("backend: etcd, etcd: {ttl: 8}").advisories).toHaveLength(1);
  expect(cluster("backend: etcd, etcd: {ttl: 9}").advisories).toEqual([]);
});

test("etcd's password is read at load and must be there", () => {
  const directory = filesIn({
    "good.yaml":
      'cluster: {backend: etcd, etcd: {endpoints: ["https://h"], username: u, password: {fromFile: "${D}/pw"}}}',
    "blank.yaml": 'cluster: {backend: etcd, etcd: {endpoints: ["https://h"], password: {fromFile: "${D}/blank"}}}',
    "unset.yaml": 'cluster: {backend: etcd, etcd: {endpoints: ["https://h"], password: {fromEnvVar: NOPE}}}',
    pw: "\uFEFFsecret\n\n",
    blank: " \n",
  });
  const environment = { D: directory };
  expect(configAt(join(directory, "good.yaml"), { environment }).cluster?.backend).toMatchObject({
    username: "u",
    password: "secret",
  });
  for (const file of ["blank.yaml", "unset.yaml"])
    expect(problemsAt(join(directory, file), { environment }).join()).toMatch(
      /cluster\.etcd\.password: cluster\.etcd\.password is configured but resolved to an empty secret$/,
    );
});

test("a filesystem lease needs a directory and a name", () => {
  expect(cluster("backend: filesystem, filesystem: {path: shared}").backend).toEqual({
    kind: "filesystem",
    path: "/work-dir/shared",
    electionName: "cluster/leader",
    ttlSeconds: 15,
    deploymentId: null,
    topology: "auto",
  });
  const path = "cluster.filesystem.path is required and must be non-empty (it is the directory the nodes share)";
  expect(problems("backend: filesystem")).toEqual([path]);
  expect(problems("backend: filesystem, filesystem: {path: ' '}")).toEqual([path]);
  const filesystem = (keys: string): string[] => problems(`backend: filesystem, filesystem: {path: /p, ${keys}}`);
  expect(filesystem("electionName: ' '")).toEqual(["cluster.filesystem.electionName must be non-blank"]);
  for (const ttl of ["2.9", "nan", "1e309"])
    expect(filesystem(`ttl: ${ttl}`).join()).toContain("cluster.filesystem.ttl must be >= 3");
  expect(filesystem("ttl: 3")).toEqual([]);
});

test("observability is a mesh beside a lease backend, and only a switch beside gossip", () => {
  const lease = cluster(
    `backend: etcd, connectTimeout: 5, observability: {listen: "a:1", ${tls}, peers: [{host: "b:1"}]}`,
  );
  expect(lease).toMatchObject({
    shareNodeStats: true,
    observability: { listen: "a:1", peers: ["b:1"], connectTimeoutSeconds: 5 },
  });
  expect(problems("backend: etcd, observability: {}")).toEqual(
    ["listen", "tls", "peers"].map((key) =>
      expect.stringContaining(`cluster.observability requires cluster.observability.${key} when backend is 'etcd'`),
    ),
  );
  const gossip = `listen: "a:1", ${tls}, peers: []`;
  expect(cluster(`${gossip}, observability: {shareNodeStats: no}`)).toMatchObject({
    shareNodeStats: false,
    observability: null,
  });
  expect(problems(`${gossip}, observability: {peers: []}`).join()).toContain(
    "cluster.observability.{listen,tls,peers} is redundant with backend: gossip",
  );
  expect(problems(`${gossip}, observability: {interval: 5}`).join()).toContain(
    "cluster.observability.interval only applies to the overlay mesh",
  );
});

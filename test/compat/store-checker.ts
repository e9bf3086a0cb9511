import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * Judges a store directory by the rules of its format alone (`FORMAT.md`). It shares no code with the store, so that a mistake in
 * the one is not repeated in the other.
 *
 * @param base the namespace directory
 * @returns what is wrong, one line each; nothing when the store is sound
 */
export function checkStore(base: string): string[] {
  const wrong: string[] = [];
  const say = (path: string, what: string): void => void wrong.push(`${path.slice(base.length + 1)}: ${what}`);

  const mode = (path: string, expected: number): void => {
    const found = lstatSync(path).mode & 0o777;
    if (found !== expected) say(path, `mode 0${found.toString(8)}, not 0${expected.toString(8)}`);
  };
  const entries = (path: string): string[] => {
    mode(path, 0o700);
    return readdirSync(path).sort();
  };
  const file = (path: string): Buffer => {
    if (!lstatSync(path).isFile()) say(path, "not a plain file");
    mode(path, 0o600);
    return readFileSync(path);
  };
  const lockFile = (path: string): void => {
    if (!file(path).equals(Buffer.from([0]))) say(path, "a lock file is one NUL byte");
  };
  const token = (path: string): void => {
    const problem = tokenProblem(basename(path).replace(/\.(doc|lease|lock)$/, ""));
    if (problem !== null) say(path, problem);
  };
  const canonical = (path: string): Json => {
    const text = file(path).toString("latin1");
    const problem = canonicalProblem(text);
    if (problem !== null) say(path, problem);
    return problem === null ? JSON.parse(text) : null;
  };
  const envelope = (path: string): Json => {
    const root = canonical(path);
    if (!isObject(root) || Object.keys(root).join() !== "data,schemaVersion") say(path, "not an envelope");
    else if (root.schemaVersion !== "v1" || !isObject(root.data ?? null)) say(path, "not an envelope of scheme v1");
    else return root.data ?? null;
    return null;
  };

  const expected = ["blobs", "docs", "leases", "quarantine", "records", "tmp"];
  if (entries(base).join() !== expected.join()) say(`${base}/.`, `holds ${entries(base).join()}`);

  for (const stream of entries(join(base, "records"))) {
    const directory = join(base, "records", stream);
    const files = entries(directory);
    if (!stream.includes("%.")) token(directory);
    else if (!files.includes("stream-name.txt")) say(directory, "a cut name needs its side file");
    for (const name of files) {
      const path = join(directory, name);
      if (name === "stream-name.txt") {
        if (encoded(file(path)) !== stream) say(path, "does not name its stream");
        continue;
      }
      if (!/^\d{13}\.\d{6}-[0-9a-f]{12}-\d{12}\.json$/.test(name)) say(path, "not the name of a record");
      for (const instant of instantsIn(envelope(path)))
        if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/.test(instant)) say(path, `instant ${instant}`);
    }
  }

  for (const namespace of entries(join(base, "docs"))) {
    const directory = join(base, "docs", namespace);
    token(directory);
    const files = entries(directory);
    for (const name of files) {
      const path = join(directory, name);
      token(path);
      if (name.endsWith(".lock")) lockFile(path);
      else if (!name.endsWith(".doc")) say(path, "neither document nor lock");
      else {
        envelope(path);
        if (!files.includes(name.replace(/\.doc$/, ".lock"))) say(path, "has no lock file");
      }
    }
  }

  for (const shard of entries(join(base, "blobs")))
    for (const name of entries(join(base, "blobs", shard))) {
      const path = join(base, "blobs", shard, name);
      const sha256 = createHash("sha256").update(file(path)).digest("hex");
      if (name !== `${sha256}.blob` || !name.startsWith(shard)) say(path, `holds ${sha256}`);
    }

  for (const name of entries(join(base, "leases"))) {
    const path = join(base, "leases", name);
    token(path);
    if (name.endsWith(".lock")) {
      lockFile(path);
      continue;
    }
    const lease = canonical(path);
    const text = readFileSync(path, "latin1");
    if (!isObject(lease) || Object.keys(lease).join() !== "expiresAt,fence,holder,name") say(path, "not a lease");
    else if (encoded(Buffer.from(String(lease.name))) !== name.replace(/\.lease$/, ""))
      say(path, "names another lease");
    else if (!Number.isInteger(lease.fence) || Number(lease.fence) < 1) say(path, `fence ${lease.fence}`);
    else if (!/"expiresAt":\d+\.\d+,"fence":\d+,/.test(text)) say(path, "expiresAt is a float, fence an integer");
  }

  for (const name of entries(join(base, "quarantine")))
    if (!/\.json\.[0-9a-f]{12}\.bad$/.test(name))
      say(join(base, "quarantine", name), "not the name of a record put aside");
  for (const name of entries(join(base, "tmp"))) say(join(base, "tmp", name), "left behind");
  return wrong;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Fields that hold an instant in records; in documents and artifacts those are numbers. */
const INSTANTS = [
  "at",
  "finished_at",
  "started_at",
  "ranAt",
  "interruptedAt",
  "notBefore",
  "armedAt",
  "startedAt",
  "since",
  "until",
];

function instantsIn(record: Json): string[] {
  if (!isObject(record)) return [];
  return INSTANTS.map((field) => record[field]).filter((value) => typeof value === "string");
}

/** Names by 4.2, from bytes: everything but a-z 0-9 _ - escaped, device names too, long ones cut. */
function encoded(name: Buffer): string {
  let token = Array.from(name, (byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z0-9_-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
  if (/^(con|prn|aux|nul|com[1-9]|lpt[1-9])$/.test(token))
    token = `%${token.charCodeAt(0).toString(16).toUpperCase()}${token.slice(1)}`;
  if (token.length <= 130) return token;
  return `${token.slice(0, 96)}%.${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

function tokenProblem(token: string): string | null {
  if (token.includes("%.")) return token.length === 130 ? null : "a cut name has 130 characters";
  const escapes = token.match(/%../g) ?? [];
  if (escapes.some((found) => !/^%[0-9A-F]{2}$/.test(found))) return "an escape is not two upper-case hex digits";
  const bytes = Buffer.from(
    token.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
  return encoded(bytes) === token ? null : "not how its name is encoded";
}

/** Walks the text token by token: no spaces, ASCII only, keys in order, numbers as the format prints them. */
function canonicalProblem(text: string): string | null {
  if (!/^[ -~]*$/.test(text)) return "holds bytes that are not printable ASCII";
  try {
    JSON.parse(text);
  } catch {
    return "not JSON";
  }
  const lexeme =
    /"(?:[^"\\]|\\(?:["\\bfnrt]|u[0-9a-f]{4}))*"|-?\d+(?:\.\d+)?(?:e[+-]\d{2,3})?|true|false|null|[[\]{}:,]/y;
  const lastKeys: (string | null)[] = [];
  for (let at = 0; at < text.length; ) {
    lexeme.lastIndex = at;
    const found = lexeme.exec(text)?.[0];
    if (found === undefined) return `unexpected text at ${at}: ${text.slice(at, at + 20)}`;
    at += found.length;
    if (found === "{") lastKeys.push(null);
    if (found === "[") lastKeys.push(null);
    if (found === "}" || found === "]") lastKeys.pop();
    if (found.startsWith('"') && text[at] === ":") {
      const key: string = JSON.parse(found);
      const before = lastKeys.at(-1) ?? null;
      if (before !== null && Buffer.compare(Buffer.from(before), Buffer.from(key)) >= 0)
        return `key ${key} does not come after ${before}`;
      lastKeys[lastKeys.length - 1] = key;
    }
  }
  return null;
}

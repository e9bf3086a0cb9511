import { dirname } from "node:path";
import { type Disk, diskError, type FileFacts } from "../../../src/store/filesystem/disk.ts";
import { seededNumbers } from "../crash/writer.ts";

interface FileNode {
  readonly kind: "file";
  readonly inode: bigint;
  readonly mode: number;
  content: Buffer;
  /** What the platter has; null before the first flush. */
  flushed: Buffer | null;
  modifiedAtSeconds: number;
  locked: boolean;
}

interface DirectoryNode {
  readonly kind: "directory";
  readonly inode: bigint;
  readonly mode: number;
  readonly entries: Map<string, Node>;
  flushed: ReadonlyMap<string, Node>;
}

type Node = FileNode | DirectoryNode;

/** What a power cut leaves of what was never flushed. */
export type Loss = "all that was not flushed" | "nothing" | { readonly mixed: number };

/** The machine stopped here. */
export class PowerCut extends Error {}

export interface VolatileDisk extends Disk {
  /** Cuts the power at the `call`-th system call from now (0 = the next); from then on every call fails with `PowerCut`. */
  cutAt(call: number): void;
  /** Makes the `call`-th system call from now, and only that one, fail with this error. */
  failAt(call: number, code: string): void;
  /** Whether a call has failed because of `failAt`. */
  readonly hasFailed: boolean;
  /** Whether the power has gone. */
  readonly isDead: boolean;
  /** The disk as it is found after a power cut. */
  afterPowerCut(loss: Loss): VolatileDisk;
  /** Flushes everything, as time would. */
  settle(): void;
  /** Contents by path. */
  files(): ReadonlyMap<string, Buffer>;
  /** What was done to the disk, one call a line: `create tmp/x`, `flush tmp/x`, `rename tmp/x → a`. */
  readonly trace: string[];
}

/**
 * A disk in memory that forgets like a real one: file contents until they are flushed, names until their directory is. Made to find
 * the flush that is missing.
 */
export function volatileDisk(root: DirectoryNode = directory(1n, 0o700)): VolatileDisk {
  let inodes = 1000n;
  let calls = 0;
  let cut = Number.POSITIVE_INFINITY;
  let fault = { at: Number.POSITIVE_INFINITY, code: "" };
  const open = new Map<number, { readonly file: FileNode; readonly path: string; holdsLock: boolean }>();
  let lastFd = 2;
  const trace: string[] = [];

  const call = (what: string): void => {
    const index = calls++;
    if (index >= cut) throw new PowerCut(what);
    if (index === fault.at) throw diskError(fault.code, what);
    trace.push(what);
  };

  const find = (path: string): Node | undefined => {
    let node: Node | undefined = root;
    for (const name of path.split("/").filter(Boolean))
      node = node?.kind === "directory" ? node.entries.get(name) : undefined;
    return node;
  };
  const nodeAt = (path: string): Node => {
    const node = find(path);
    if (node === undefined) throw diskError("ENOENT", path);
    return node;
  };
  const directoryAt = (path: string): DirectoryNode => {
    const node = nodeAt(path);
    if (node.kind !== "directory") throw diskError("ENOTDIR", path);
    return node;
  };
  const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  const opened = (fd: number) => {
    const found = open.get(fd);
    if (found === undefined) throw diskError("EBADF", `${fd}`);
    return found;
  };
  const openFile = (file: FileNode, path: string): number => {
    open.set(++lastFd, { file, path, holdsLock: false });
    return lastFd;
  };
  const createFile = (path: string, mode: number): number => {
    const file: FileNode = {
      kind: "file",
      inode: ++inodes,
      mode,
      content: Buffer.alloc(0),
      flushed: null,
      modifiedAtSeconds: 0,
      locked: false,
    };
    directoryAt(dirname(path)).entries.set(nameOf(path), file);
    return openFile(file, path);
  };
  const facts = (node: Node): FileFacts => ({
    device: 1n,
    inode: node.inode,
    kind: node.kind,
    bytes: node.kind === "file" ? node.content.length : 0,
    modifiedAtSeconds: node.kind === "file" ? node.modifiedAtSeconds : 0,
  });

  return {
    trace,
    failAt(at, code) {
      fault = { at: calls + at, code };
    },
    get hasFailed() {
      return calls > fault.at;
    },
    get isDead() {
      return calls > cut;
    },
    cutAt(at) {
      cut = calls + at;
    },
    settle: () => settle(root),
    files: () => contents(root),
    afterPowerCut(loss) {
      const random = typeof loss === "string" ? () => 0 : seededNumbers(loss.mixed);
      const keeps = (): boolean => (typeof loss === "string" ? loss === "nothing" : random(2) === 0);
      return volatileDisk(survivor(root, keeps));
    },

    list(path) {
      call(`list ${path}`);
      return [...directoryAt(path).entries.keys()].sort();
    },
    facts(path) {
      call(`facts ${path}`);
      return facts(nodeAt(path));
    },
    readFile(path, bytesMax) {
      call(`read ${path}`);
      const node = nodeAt(path);
      if (node.kind !== "file") throw diskError("EINVAL", path);
      if (node.content.length > bytesMax) throw diskError("EFBIG", path);
      return Buffer.from(node.content);
    },
    makeDirectory(path, mode) {
      call(`mkdir ${path}`);
      if (find(path) !== undefined) throw diskError("EEXIST", path);
      directoryAt(dirname(path)).entries.set(nameOf(path), directory(++inodes, mode));
    },
    create(path, mode) {
      call(`create ${path}`);
      if (find(path) !== undefined) throw diskError("EEXIST", path);
      return createFile(path, mode);
    },
    openOrCreate(path, mode) {
      call(`open ${path}`);
      const node = find(path);
      if (node?.kind === "directory") throw diskError("EISDIR", path);
      return node === undefined ? createFile(path, mode) : openFile(node, path);
    },
    write(fd, bytes) {
      const { file, path } = opened(fd);
      call(`write ${path}`);
      file.content = Buffer.concat([file.content, bytes]);
    },
    flush(fd) {
      const { file, path } = opened(fd);
      call(`flush ${path}`);
      file.flushed = file.content;
    },
    flushDirectory(path) {
      call(`flush directory ${path}`);
      const node = directoryAt(path);
      node.flushed = new Map(node.entries);
    },
    factsOf: (fd) => facts(opened(fd).file),
    touchOpen(fd, atSeconds) {
      opened(fd).file.modifiedAtSeconds = atSeconds;
    },
    close(fd) {
      const found = opened(fd);
      if (found.holdsLock) found.file.locked = false;
      open.delete(fd);
    },
    rename(from, to) {
      call(`rename ${from} → ${to}`);
      const node = nodeAt(from);
      directoryAt(dirname(to)).entries.set(nameOf(to), node);
      directoryAt(dirname(from)).entries.delete(nameOf(from));
    },
    unlink(path) {
      call(`unlink ${path}`);
      if (!directoryAt(dirname(path)).entries.delete(nameOf(path))) throw diskError("ENOENT", path);
    },
    removeDirectory(path) {
      call(`rmdir ${path}`);
      if (directoryAt(path).entries.size > 0) throw diskError("ENOTEMPTY", path);
      directoryAt(dirname(path)).entries.delete(nameOf(path));
    },
    touch(path, atSeconds) {
      call(`touch ${path}`);
      const node = nodeAt(path);
      if (node.kind === "file") node.modifiedAtSeconds = atSeconds;
    },
    tryLock(fd) {
      const found = opened(fd);
      call(`lock ${found.path}`);
      if (found.file.locked) return false;
      found.file.locked = true;
      found.holdsLock = true;
      return true;
    },
    unlock(fd) {
      const found = opened(fd);
      found.file.locked = false;
      found.holdsLock = false;
    },
  };
}

function directory(inode: bigint, mode: number): DirectoryNode {
  return { kind: "directory", inode, mode, entries: new Map(), flushed: new Map() };
}

function settle(node: DirectoryNode): void {
  node.flushed = new Map(node.entries);
  for (const child of node.entries.values()) {
    if (child.kind === "file") child.flushed = child.content;
    else settle(child);
  }
}

/** What is on the platter, and of the rest what `keeps` says. A file whose bytes were not flushed is cut short at best. */
function survivor(node: DirectoryNode, keeps: () => boolean): DirectoryNode {
  const left = directory(node.inode, node.mode);
  const names = new Set([...node.entries.keys(), ...node.flushed.keys()]);
  for (const name of names) {
    const now = node.entries.get(name);
    const before = node.flushed.get(name);
    const child = now === before || !keeps() ? before : now;
    if (child === undefined) continue;
    if (child.kind === "directory") left.entries.set(name, survivor(child, keeps));
    else {
      const isFlushed = child.flushed?.equals(child.content) ?? false;
      const content =
        isFlushed || keeps() ? child.content : (child.flushed ?? child.content.subarray(0, child.content.length / 2));
      left.entries.set(name, { ...child, content, flushed: content, locked: false });
    }
  }
  left.flushed = new Map(left.entries);
  return left;
}

function contents(node: DirectoryNode, path = ""): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const [name, child] of node.entries) {
    if (child.kind === "file") found.set(`${path}/${name}`, child.content);
    else for (const [deeper, content] of contents(child, `${path}/${name}`)) found.set(deeper, content);
  }
  return found;
}

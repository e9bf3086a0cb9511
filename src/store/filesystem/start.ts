import { join } from "node:path";
import type { Topology } from "../../config/model.ts";
import { decodeEnvelope, encodeEnvelope, SCHEMA_VERSION, utf8Text } from "../envelope.ts";
import type { LockFidelity, StoreFacts } from "../store.ts";
import { errorCode } from "./disk.ts";
import { RECORD_BYTES_MAX } from "./limits.ts";
import { recordIds, recordPath, streamDirectory } from "./record-files.ts";
import type { Streams } from "./streams.ts";
import { hostLocalLocks, probeMount, resolveTopology } from "./topology.ts";
import { ensureBase, ensureDirectory, FILE_MODE, messageOf, type Volume } from "./volume.ts";

const STAMP_STREAM = "meta";

/** Makes the tree, proves that it can be written and stamps it (LAY-4, LAY-5). */
export function startStore(volume: Volume, streams: Streams, configured: Topology, namespace: string): StoreFacts {
  const { layout } = volume;
  ensureBase(volume);
  for (const directory of [
    layout.records,
    layout.documents,
    layout.blobs,
    layout.leases,
    layout.quarantine,
    layout.temporary,
  ])
    ensureDirectory(volume, directory);
  const mount = probeMount(layout.base);
  const { topology, contradiction } = resolveTopology(configured, mount);
  if (contradiction !== null) volume.warn(contradiction);
  probeWriting(volume);
  stamp(volume, streams);
  return {
    backend: "filesystem",
    location: layout.base,
    namespace,
    topology,
    sharedLocking: topology === "shared" && hostLocalLocks(mount) === null,
  };
}

function probeWriting(volume: Volume): void {
  const { disk } = volume;
  const path = join(volume.layout.temporary, `startup-${volume.writer}.probe`);
  const fd = disk.create(path, FILE_MODE);
  try {
    disk.write(fd, Buffer.from("probe"));
    disk.flush(fd);
  } finally {
    disk.close(fd);
    disk.unlink(path);
  }
}

/** Read as it stands, past the reader that would put a newer stamp aside. */
function stamp(volume: Volume, streams: Streams): void {
  const directory = streamDirectory(volume, STAMP_STREAM);
  for (const id of recordIds(volume, directory).toReversed()) {
    const scheme = schemeOf(volume, recordPath(directory, id));
    if (scheme === null) continue;
    if (scheme !== SCHEMA_VERSION)
      volume.warn(
        `state: the store at ${volume.layout.base} was last stamped by a build writing record scheme '${scheme}' (this build writes '${SCHEMA_VERSION}'); records this build cannot read are quarantined; consider \`cronstable state migrate-schema\``,
      );
    return;
  }
  const encoded = encodeEnvelope({ storeVersion: SCHEMA_VERSION });
  if (encoded.kind === "text") streams.add(STAMP_STREAM, encoded.text);
}

function schemeOf(volume: Volume, path: string): string | null {
  try {
    const text = utf8Text(volume.disk.readFile(path, RECORD_BYTES_MAX));
    const decoded = text === null ? null : decodeEnvelope(text);
    if (decoded?.kind === "current") return SCHEMA_VERSION;
    return decoded?.kind === "foreign" ? decoded.schemaVersion : null;
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return null; // advisory: an unreadable stamp is no stamp
  }
}

/** Whether two openings of one file exclude each other, here and as far as the mount tells on other hosts (TOP-6). */
export function probeLocks(volume: Volume): LockFidelity {
  const { disk, layout } = volume;
  const hostLocal = hostLocalLocks(probeMount(layout.base));
  if (hostLocal !== null) return { kind: "unreliable", because: hostLocal };
  const path = join(layout.temporary, `lock-probe-${volume.writer}`);
  try {
    const first = disk.openOrCreate(path, FILE_MODE);
    try {
      const second = disk.openOrCreate(path, FILE_MODE);
      try {
        if (!disk.tryLock(first)) return { kind: "unproven", because: "a fresh file is locked already" };
        return disk.tryLock(second)
          ? { kind: "unreliable", because: `two openings of ${path} hold its lock at once` }
          : { kind: "exclusive" };
      } finally {
        disk.close(second);
      }
    } finally {
      disk.close(first);
      disk.unlink(path);
    }
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return { kind: "unproven", because: messageOf(error) };
  }
}

import type { Engine } from "../engine.ts";
import { openBlobs } from "./blobs.ts";
import type { Disk } from "./disk.ts";
import { openDocuments } from "./documents.ts";
import { openKeyedStreams } from "./keyed-streams.ts";
import { openLeases } from "./leases.ts";
import { probeLocks, startStore } from "./start.ts";
import { streamNames } from "./stream-names.ts";
import { openStreams } from "./streams.ts";
import { openUpkeep } from "./upkeep.ts";
import { openVolume, storeLayout } from "./volume.ts";

export interface FilesystemEngineOptions {
  /** Absolute. */
  readonly path: string;
  /** Null for the namespace `default`. */
  readonly deploymentId: string | null;
  /** 12 hex digits no other engine has. */
  readonly writer: string;
}

/**
 * A store directory (state 4), read and written with plain system calls. Several engines, in one process or many, may work on one
 * directory at a time.
 */
export function filesystemEngine(
  options: FilesystemEngineOptions,
  disk: Disk,
  clock: { wallMicros(): number },
  warn: (message: string) => void,
): Engine {
  const layout = storeLayout(options.path, options.deploymentId);
  const volume = openVolume(disk, layout, options.writer, clock, warn);
  const streams = openStreams(volume);
  const keyed = openKeyedStreams(volume, streams);
  const upkeep = openUpkeep(volume);
  const forget = (stream: string): void => {
    streams.forget(stream);
    keyed.forget(stream);
  };
  return {
    ...openDocuments(volume),
    ...openBlobs(volume),
    ...openLeases(volume),
    ...upkeep,
    append: streams.append,
    listRecords: streams.listRecords,
    maxOfField: streams.maxOfField,
    publish: keyed.publish,
    newestByKey: keyed.newestByKey,
    start: ({ topology }) => startStore(volume, streams, topology, options.deploymentId ?? "default"),
    streamNames: ({ prefix }) => streamNames(volume, prefix),
    probeLocks: () => probeLocks(volume),
    prune(args) {
      const removed = streams.prune(args);
      if (args.keep <= 0) forget(args.stream);
      return removed;
    },
    collectStream(args) {
      const collected = upkeep.collectStream(args);
      if (collected.kind === "collected" && !args.dryRun) forget(args.stream);
      return collected;
    },
    learn(lesson) {
      switch (lesson.kind) {
        case "seen":
          return streams.raiseFloor(lesson.stream, lesson.id);
        case "published":
          return keyed.published(lesson.stream, lesson.key, lesson.id);
        case "emptied":
          return forget(lesson.stream);
      }
    },
  };
}

import type { JobConfig } from "../../config/model.ts";
import type { RanRow } from "../../contract/history.ts";
import type { OutputLine } from "../../contract/launcher.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { ARCHIVED_CHARS_MAX, ARCHIVED_LINES_MAX } from "../limits.ts";
import { jobStreams, ledgerKeep } from "../streams.ts";
import type { WriteQueue } from "../write-queue.ts";
import { type ArchivedOutput, archiveRecord } from "./archive-record.ts";
import type { OutputText } from "./redaction.rules.ts";
import type { Redactor } from "./redactor.ts";

/** The live ring of a run at the moment it is recorded. */
export interface OutputSnapshot {
  readonly recent: readonly OutputLine[];
  /** Lines there ever were. */
  readonly published: number;
}

/** What finished runs printed, for later (state 11). */
export interface OutputArchive {
  /**
   * Scrubs and stores a run's output in the background; does nothing for a job that does not archive. Output that cannot be scrubbed is
   * not stored, and counts as a lost write.
   */
  store(job: JobConfig, row: RanRow, output: OutputSnapshot): void;
  /** The newest archived runs of a job, newest first. */
  newest(job: string, limit: number): Promise<Outcome<readonly ArchivedOutput[]>>;
}

export function createOutputArchive(parts: {
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly redactor: Pick<Redactor, "redact">;
  readonly maxRunsPerJob: () => number;
}): OutputArchive {
  const { backend, writes, redactor, maxRunsPerJob } = parts;

  const write = async (stream: string, output: ArchivedOutput): Promise<Outcome<unknown>> => {
    const scrubbed = output.redacted
      ? await redactor.redact(output.lines)
      : ({ kind: "done", lines: output.lines } as const);
    if (scrubbed.kind === "failed")
      return {
        kind: "failed",
        failure: { reason: "io", message: `its output could not be redacted: ${scrubbed.reason}` },
      };
    const keep = ledgerKeep(maxRunsPerJob());
    return onBackend(backend, ({ records }) =>
      records.append(
        stream,
        archiveRecord.encode({ ...output, lines: scrubbed.lines }),
        keep === undefined ? {} : { keep },
      ),
    );
  };

  return {
    store(job, row, snapshot) {
      if (!job.archiveOutput || job.launch.saveLimitLines === 0) return;
      const { lines, droppedLines } = archivedLines(snapshot);
      const { outcome, exitCode, finishedAt } = row;
      const output = { outcome, exitCode, finishedAt, lines, droppedLines, redacted: job.redactArchivedSecrets };
      const stream = jobStreams.logs(job.name);
      void writes.add(stream, "run-record", job.name, () => write(stream, output));
    },
    async newest(job, limit) {
      const listed = await onBackend(backend, ({ records }) =>
        records.list(jobStreams.logs(job), { order: "newest first", limit, reading: "tolerant" }),
      );
      if (listed.kind !== "done") return listed;
      const found = listed.value.flatMap(({ data }) => {
        const output = archiveRecord.decode(data);
        return output.kind === "record" ? [output.value] : [];
      });
      return { kind: "done", value: found };
    },
  };
}

/** The newest lines of the command's own streams within the limits, and how many are not among them (ARC-3). */
function archivedLines({ recent, published }: OutputSnapshot): { lines: OutputText[]; droppedLines: number } {
  const own = recent.flatMap(({ stream, line }) =>
    stream === "stdout" || stream === "stderr" ? [{ stream, line }] : [],
  );
  let first = Math.max(0, own.length - ARCHIVED_LINES_MAX);
  let chars = own.slice(first).reduce((sum, { line }) => sum + line.length, 0);
  for (; chars > ARCHIVED_CHARS_MAX && first < own.length; first++) chars -= own[first]?.line.length ?? 0;
  return { lines: own.slice(first), droppedLines: published - recent.length + first };
}

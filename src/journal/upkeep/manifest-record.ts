import { z } from "zod";
import type { EpochMs } from "../../platform/clock.ts";
import { compareCodePoints } from "../../store/json.ts";
import { isoOrNull, optionalInstant, optionalText, orNull, type RecordCodec, recordCodec } from "../record-codec.ts";

/** What a node was configured for at an instant: the anchor of garbage collection (GEN-4). */
export interface Manifest {
  /** Null when the record does not tell, which proves nothing about any age. */
  readonly at: EpochMs | null;
  readonly host: string | null;
  readonly jobSetId: string | null;
  readonly jobs: readonly string[];
  /** Null in manifests of builds that do not write them: artifacts then stay unmanaged (GC-4). */
  readonly scopes: readonly string[] | null;
  /** Null likewise. */
  readonly dags: readonly string[] | null;
}

const names = z.array(z.string());

const shape = z.object({
  at: optionalInstant,
  host: optionalText,
  jobSetId: optionalText,
  jobs: names,
  scopes: orNull(names),
  dags: orNull(names),
});

/** `manifests/<host>`. A list of jobs that cannot be read makes the record damaged: what it protects is not known. */
export const manifestRecord: RecordCodec<Manifest> = recordCodec({
  shape,
  write: ({ at, host, jobSetId, jobs, scopes, dags }) => ({
    at: isoOrNull(at),
    host,
    jobSetId,
    jobs: sorted(jobs),
    ...(scopes === null ? {} : { scopes: sorted(scopes) }),
    ...(dags === null ? {} : { dags: sorted(dags) }),
  }),
  read: (manifest) => manifest,
});

function sorted(list: readonly string[]): string[] {
  return [...new Set(list)].sort(compareCodePoints);
}

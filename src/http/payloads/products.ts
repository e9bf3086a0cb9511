import type { ControlPlane } from "../../contract/control-plane.ts";
import type { JobView } from "../../contract/job-view.ts";
import { textBuffer } from "../../metrics/text-buffer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Sliced } from "../../schedule/fleet.ts";
import { etagOf } from "../etag.ts";
import { type Product, productOf } from "../product.ts";
import { jobTexts } from "./job.ts";
import { instantOrNull, outcomeOf } from "./run.ts";

const JSON_TYPE = "application/json";

/** All jobs, with the version that passing time does not change (http 3.5). */
export function* jobsProduct(control: ControlPlane, clock: Clock): Sliced<Product> {
  const now = clock.wallNow();
  const version = textBuffer();
  const body = textBuffer();
  body.add("[");
  let separator = "";
  for (const view of shownJobs(control)) {
    const { text, versionText } = jobTexts(view, now);
    body.add(`${separator}${text}`);
    version.add(versionText);
    separator = ",";
    yield;
  }
  body.add("]");
  return productOf({
    contentType: JSON_TYPE,
    body: Buffer.concat(body.chunks()),
    etag: etagOf(Buffer.concat(version.chunks())),
    vary: "Accept-Encoding",
  });
}

function* shownJobs(control: ControlPlane): Iterable<JobView> {
  yield* control.jobs();
  yield* control.removedJobs();
}

/** The newest runs of each job, oldest first. */
export function* activityProduct(control: ControlPlane, rowsPerJob: number): Sliced<Product> {
  const body = textBuffer();
  body.add('{"jobs":{');
  let separator = "";
  for (const { config, rows } of control.jobs()) {
    const shown = rows.slice(-rowsPerJob).map((row) => ({
      started_at: row.kind === "ran" ? instantOrNull(row.startedAt) : null,
      finished_at: instantOrNull(row.kind === "interrupted" ? row.interruptedAt : row.finishedAt),
      outcome: outcomeOf(row),
    }));
    body.add(`${separator}${JSON.stringify(config.name)}:${JSON.stringify(shown)}`);
    separator = ",";
    yield;
  }
  body.add("}}");
  return taggedByBody(Buffer.concat(body.chunks()));
}

/** A JSON body whose version is its content. */
export function jsonProduct(value: unknown): Product {
  return taggedByBody(Buffer.from(JSON.stringify(value)));
}

/** A JSON body without a version. */
export function untaggedJsonProduct(value: unknown): Product {
  return productOf({
    contentType: JSON_TYPE,
    body: Buffer.from(JSON.stringify(value)),
    etag: null,
    vary: "Accept-Encoding",
  });
}

function taggedByBody(body: Buffer): Product {
  const etag = etagOf(body);
  return productOf({ contentType: JSON_TYPE, body, etag, vary: "Accept-Encoding" });
}

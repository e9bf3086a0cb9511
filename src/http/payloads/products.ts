import type { ControlPlane } from "../../contract/control-plane.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Sliced } from "../../schedule/fleet.ts";
import { finishedEtag, startedEtag } from "../etag.ts";
import { type Product, productOf } from "../product.ts";
import { jobTexts } from "./job.ts";
import { instantOrNull, outcomeOf } from "./run.ts";

const JSON_TYPE = "application/json";

/** Text gathered into one buffer now and then, so that a large answer is not one long string. */
const GATHERED_CHARACTERS = 256 * 1024;

/** All jobs, with the version that passing time does not change (http 3.5). */
export function* jobsProduct(control: ControlPlane, clock: Clock): Sliced<Product> {
  const now = clock.wallNow();
  const version = startedEtag();
  const body = gathered();
  body.add("[");
  let separator = "";
  for (const view of control.jobs()) {
    const { text, versionText } = jobTexts(view, now);
    body.add(`${separator}${text}`);
    version.update(versionText);
    separator = ",";
    yield;
  }
  body.add("]");
  return productOf({
    contentType: JSON_TYPE,
    body: body.take(),
    etag: finishedEtag(version),
    vary: "Accept-Encoding",
  });
}

/** The newest runs of each job, oldest first. */
export function* activityProduct(control: ControlPlane, rowsPerJob: number): Sliced<Product> {
  const body = gathered();
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
  return taggedByBody(body.take());
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
  const etag = finishedEtag(startedEtag().update(body));
  return productOf({ contentType: JSON_TYPE, body, etag, vary: "Accept-Encoding" });
}

function gathered() {
  const buffers: Buffer[] = [];
  let text = "";
  const flush = (): void => {
    buffers.push(Buffer.from(text));
    text = "";
  };
  return {
    add(more: string): void {
      text += more;
      if (text.length >= GATHERED_CHARACTERS) flush();
    },
    take(): Buffer {
      flush();
      return buffers.length === 1 ? (buffers[0] ?? Buffer.alloc(0)) : Buffer.concat(buffers);
    },
  };
}

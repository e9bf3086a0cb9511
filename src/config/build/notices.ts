/** The `notify` and `push` sections (config 7.7, 7.8). */

import type { NotifyConfig, NotifyEvent, PushConfig } from "../model.ts";
import type { NotifyOptions, PushOptions } from "../options/file.ts";
import { shown } from "../options/scalars.ts";
import type { Subject } from "../subject.ts";
import { httpHost, redacted } from "./address.ts";
import { reportConfig } from "./report.ts";

const allEvents: readonly NotifyEvent[] = ["dag_failure", "approval_waiting", "leader_change", "quorum_loss"];

export function notifyConfig({ events, report }: NotifyOptions, subject: Subject): NotifyConfig {
  const wanted = events.length === 0 ? allEvents : [...new Set(events)];
  return { events: wanted, report: reportConfig(report, "notify", subject, ["report"]) };
}

/** Null, and a problem of `subject`, when the relay's address is none. */
export function pushConfig(
  { relay, devicesFile, allowUnauthenticated }: PushOptions,
  subject: Subject,
): PushConfig | null {
  if (httpHost(relay.url) === null) {
    subject.problem(["relay", "url"], `push.relay.url must be an http(s) URL, got ${shown(redacted(relay.url))}`);
    return null;
  }
  return { relay: { url: relay.url, timeoutSeconds: relay.timeout }, devicesFile, allowUnauthenticated };
}

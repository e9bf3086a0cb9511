import type { EpochMs } from "../../platform/clock.ts";
import { instantText, secondText } from "../instant-text.ts";
import { PUSH_PLAINTEXT_BYTES_MAX, PUSH_TAIL_LINES_MAX, PUSH_TEXT_CHARS_MIN } from "../limits.ts";
import type { Story } from "../story.ts";

export type PushKind = "success" | "failure" | "sla" | "event" | "test";

/** What a phone is told, before sealing (running 12.5). Keys without a value are left out. */
export type Payload = {
  readonly v: 1;
  readonly kind: PushKind;
  readonly name: string;
  readonly success: boolean;
  readonly host: string;
  readonly ts: string;
} & Readonly<Partial<Record<string, string | number | boolean>>>;

export function payload(told: Story, includeLogTail: boolean, now: EpochMs): Payload {
  const { facts } = told;
  const kind = facts.kind === "event" ? "event" : facts.kind === "late" ? "sla" : told.success ? "success" : "failure";
  return withoutEmpty({
    v: 1,
    kind,
    name: told.name,
    success: told.success,
    host: told.host,
    ts: secondText(now),
    run_id: told.runId,
    schedule: told.schedule,
    started_at: told.startedAt,
    exit_code: told.exitCode,
    fail_reason: told.failReason,
    ...(facts.kind === "run" && includeLogTail ? { log_tail: lastLines(told.stderr || told.stdout || "") } : {}),
    ...(facts.kind === "event"
      ? { event: facts.event, subject: facts.subject, message: facts.message, ...texts(facts.extras, EVENT_EXTRAS) }
      : {}),
    ...(facts.kind === "late"
      ? {
          sla_check: facts.check,
          threshold_seconds: facts.thresholdSeconds,
          observed_seconds: facts.observedSeconds,
          last_success_at: facts.lastSuccessAt === null ? null : instantText(facts.lastSuccessAt),
        }
      : {}),
  });
}

export function testPayload(deviceName: string, host: string, now: EpochMs): Payload {
  return {
    v: 1,
    kind: "test",
    name: deviceName,
    success: true,
    host,
    ts: secondText(now),
    message: "This is a test alert from cronstable. Alerts of this daemon reach this device.",
  };
}

const EVENT_EXTRAS = ["run_id", "dag", "run_key", "taskkey", "role", "leader"] as const;

function texts(extras: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = extras[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

function withoutEmpty(
  all: Pick<Payload, "v" | "kind" | "name" | "success" | "host" | "ts"> &
    Readonly<Record<string, string | number | boolean | null>>,
): Payload {
  const { v, kind, name, success, host, ts, ...rest } = all;
  const set = Object.entries(rest).filter(([, value]) => value !== null && value !== "");
  return { v, kind, name, success, host, ts, ...Object.fromEntries(set) } as Payload;
}

function lastLines(text: string): string {
  return text.replace(/\n$/, "").split("\n").slice(-PUSH_TAIL_LINES_MAX).join("\n");
}

/**
 * The payload as text that fits a sealed box. What goes first, until it fits: the oldest lines of output, half of a long message, fail
 * reason or subject, then schedule, start and run id. Null when name and host alone are too much.
 */
export function fitted(whole: Payload): string | null {
  let now = withFittingTail(whole);
  for (const field of ["message", "fail_reason", "subject"]) {
    for (let value = now[field]; tooLarge(now) && typeof value === "string" && value.length > PUSH_TEXT_CHARS_MIN; ) {
      value = value.slice(0, Math.max(PUSH_TEXT_CHARS_MIN, value.length >> 1)).replace(/[\ud800-\udbff]$/, "");
      now = { ...now, [field]: value };
    }
  }
  for (const field of ["schedule", "started_at", "run_id"]) if (tooLarge(now)) now = without(now, field);
  return tooLarge(now) ? null : JSON.stringify(now);
}

function withFittingTail(whole: Payload): Payload {
  const { log_tail: tail } = whole;
  if (typeof tail !== "string" || !tooLarge(whole)) return whole;
  let room = PUSH_PLAINTEXT_BYTES_MAX - bytes({ ...whole, log_tail: "" });
  const kept: string[] = [];
  for (const line of tail.split("\n").reverse()) {
    // A line longer than all the room is not even measured; between lines stands an escaped line break.
    const cost =
      line.length > PUSH_PLAINTEXT_BYTES_MAX ? Number.POSITIVE_INFINITY : bytes(line) - 2 + (kept.length > 0 ? 2 : 0);
    if (cost > room) break;
    room -= cost;
    kept.unshift(line);
  }
  const text = kept.join("\n");
  return text === "" ? without(whole, "log_tail") : { ...whole, log_tail: text };
}

function without(payload: Payload, field: string): Payload {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => name !== field)) as Payload;
}

function tooLarge(payload: Payload): boolean {
  return bytes(payload) > PUSH_PLAINTEXT_BYTES_MAX;
}

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value), "utf8");
}

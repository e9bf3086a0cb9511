import type { PushConfig, ReportConfig } from "../../config/model.ts";
import type { Logger } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import { type HttpOut, NoAnswer } from "../http-exchange.ts";
import { RELAY_ANSWER_CHARS_MAX, WEBHOOK_LIMIT_MS } from "../limits.ts";
import { aboutOf, type Story } from "../story.ts";
import { percentDecoded } from "../webhook-redaction.rules.ts";
import { limitMs, within } from "../within.ts";
import { collapseId } from "./collapse-id.ts";
import type { Device } from "./device.ts";
import { fitted, type Payload, payload, testPayload } from "./payload.rules.ts";
import { type DeviceRegistry, RegistryUnavailable } from "./registry.ts";
import { sealer } from "./seal.ts";

/** How one delivery to the relay ended. `error` is null when the relay took it; `status` when it did not answer. */
export interface Delivery {
  readonly status: number | null;
  readonly error: string | null;
}

/** Alerts to paired phones (running 12.5): sealed for each, so that the relay sees neither job nor output. */
export interface Push {
  readonly registry: DeviceRegistry;
  /** Sends to every paired device at once; trouble is logged for each and stops none of the others. Never rejects. */
  alert(block: ReportConfig["push"], told: Story, cancelled: AbortSignal): Promise<void>;
  /** A test alert; null when there is no such device. @throws RegistryUnavailable */
  test(deviceId: string): Promise<Delivery | null>;
}

export interface PushParts {
  readonly config: PushConfig;
  readonly registry: DeviceRegistry;
  readonly http: HttpOut;
  readonly log: Logger;
  readonly clock: Clock;
  readonly host: string;
  readonly randomHex: (bytes: number) => string;
}

export function push({ config: { relay }, registry, http, log, clock, host, randomHex }: PushParts): Push {
  interface Envelope {
    readonly text: string;
    readonly collapseId: string;
    readonly priority: ReportConfig["push"]["priority"];
    readonly event: boolean;
  }

  const deliver = async (device: Device, envelope: Envelope, cancelled: AbortSignal): Promise<Delivery> => {
    const { seal } = await sealer();
    let ciphertext: string;
    try {
      ciphertext = seal(envelope.text, device.publicKey);
    } catch {
      return { status: null, error: "its public key is unusable; pair the device again" };
    }
    const { collapseId, priority, event } = envelope;
    const body = JSON.stringify({ v: 1, device: device.pushToken, ciphertext, collapseId, priority, event });
    const timeoutMs = limitMs(relay.timeoutSeconds, WEBHOOK_LIMIT_MS);
    try {
      const outcome = await within(clock, timeoutMs, cancelled, (signal) =>
        http.send({ url: relay.url, method: "POST", headers: [["Content-Type", "application/json"]], body }, signal),
      );
      if (outcome.kind === "cancelled") return { status: null, error: "the daemon is stopping" };
      if (outcome.kind === "late")
        return { status: null, error: `relay unreachable: no answer within ${timeoutMs / 1_000} seconds` };
      const { status, text } = outcome.value;
      if (status >= 200 && status < 300) return { status, error: null };
      const said = withoutCredentials(text, relay.url)
        .replace(/\p{Cc}+/gu, " ")
        .slice(0, RELAY_ANSWER_CHARS_MAX);
      return { status, error: `relay HTTP ${status}: ${said}` };
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return { status: null, error: `relay unreachable: ${error.code}` };
    }
  };

  const sendToAll = async (
    whole: Payload,
    block: ReportConfig["push"],
    about: string,
    cancelled: AbortSignal,
  ): Promise<void> => {
    const devices = await registry.receivers();
    if (devices.length === 0) {
      log.warning(`push: no device is paired; the report of ${about} is dropped`);
      return;
    }
    const text = fitted(whole);
    if (text === null) {
      log.error(`push: the report of ${about} does not fit a push message even without its output; not sent`);
      return;
    }
    const envelope = {
      text,
      collapseId: collapseId(whole, await registry.salt()),
      priority: block.priority,
      event: whole.kind === "event",
    };
    await Promise.all(
      devices.map(async (device) => {
        const { error } = await deliver(device, envelope, cancelled);
        if (error !== null) log.error(`push: delivery to device ${device.id} failed: ${error}`);
      }),
    );
  };

  return {
    registry,
    async alert(block, told, cancelled) {
      const about = aboutOf(told);
      try {
        await sendToAll(payload(told, block.includeLogTail, clock.wallNow()), block, about, cancelled);
      } catch (error) {
        if (!(error instanceof RegistryUnavailable)) throw error;
        log.error(`push: the device registry cannot be read (${error.why}); the report of ${about} is dropped`);
      }
    },
    async test(deviceId) {
      const device = (await registry.list()).find(({ id }) => id === deviceId);
      if (device === undefined) return null;
      const text = fitted(testPayload(device.name, host, clock.wallNow())) ?? "";
      const envelope = { text, collapseId: randomHex(16), priority: "time-sensitive", event: false } as const;
      return await deliver(device, envelope, new AbortController().signal);
    },
  };
}

function withoutCredentials(text: string, url: string): string {
  const { username, password } = new URL(url);
  let shown = text;
  for (const part of [username, password])
    for (const form of [part, percentDecoded(part)]) if (form !== "") shown = shown.replaceAll(form, "<redacted>");
  return shown;
}

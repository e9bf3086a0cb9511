import type { ControlPlane } from "../../contract/control-plane.ts";
import { paired, pairRequest, pushDevices, pushTest, revoked } from "../../contract/wire/push.ts";
import { type Answer, json, ownRefusal, refusal } from "../answer.ts";
import type { Route } from "../call.ts";
import { errorDoc, jsonDoc } from "../docs.ts";
import { quoted } from "../quoted.ts";
import { labelOf } from "./job-actions.ts";

/** Paired phones (http 7.9). */
export function pushRoutes({ control }: { readonly control: ControlPlane }): Route[] {
  const noPush = errorDoc("No `push:` section is configured.");
  const noDevice = errorDoc("There is no such device, or no `push:` section.");
  const noRegistry = errorDoc("The registry's store does not answer.");
  return [
    {
      method: "GET",
      path: "/push/devices",
      scope: "view",
      doc: {
        operationId: "getPushDevices",
        tag: "push",
        summary: "The paired devices, oldest first",
        answers: { 200: jsonDoc("The devices.", pushDevices), 404: noPush, 503: noRegistry },
      },
      async handle() {
        if (control.push === null) return notConfigured;
        const found = await control.push.devices();
        return found.kind === "devices" ? json({ devices: found.devices }) : unavailable;
      },
    },
    {
      method: "POST",
      path: "/push/devices",
      scope: "control",
      doc: {
        operationId: "pairPushDevice",
        tag: "push",
        summary: "Pair a device; the same public key again changes the one there is",
        body: { shape: pairRequest, required: true },
        answers: {
          200: jsonDoc("The known device, changed.", paired),
          201: jsonDoc("The new device.", paired),
          400: errorDoc("A field is missing or unusable."),
          404: noPush,
          503: noRegistry,
        },
      },
      async handle({ caller, fields }) {
        const { push } = control;
        if (push === null) return notConfigured;
        const outcome = await push.pair(await fields(), labelOf(caller));
        switch (outcome.kind) {
          case "paired":
            return json({ device: outcome.device, created: outcome.created }, outcome.created ? 201 : 200);
          case "invalid":
            return refusal(400, outcome.error);
          case "unavailable":
            return unavailable;
        }
      },
    },
    {
      method: "DELETE",
      path: "/push/devices/{id}",
      scope: "control",
      doc: {
        operationId: "revokePushDevice",
        tag: "push",
        summary: "Forget a device",
        answers: { 200: jsonDoc("It gets no more alerts.", revoked), 404: noDevice, 503: noRegistry },
      },
      async handle({ params: { id = "" } }) {
        if (control.push === null) return notConfigured;
        const outcome = await control.push.revoke(id);
        switch (outcome.kind) {
          case "revoked":
            return json({ revoked: id });
          case "unknown device":
            return unknownDevice(id);
          case "unavailable":
            return unavailable;
        }
      },
    },
    {
      method: "POST",
      path: "/push/devices/{id}/test",
      scope: "control",
      doc: {
        operationId: "testPushDevice",
        tag: "push",
        summary: "Send a test alert",
        answers: {
          200: jsonDoc("The relay took it.", pushTest),
          404: noDevice,
          502: jsonDoc("The relay did not take it.", pushTest),
          503: noRegistry,
        },
      },
      async handle({ params: { id = "" } }) {
        if (control.push === null) return notConfigured;
        const outcome = await control.push.test(id);
        switch (outcome.kind) {
          case "tested":
            return outcome.error === null
              ? json({ device: id, status: outcome.status, error: null })
              : notTaken(id, outcome.status, outcome.error);
          case "unknown device":
            return unknownDevice(id);
          case "unavailable":
            return unavailable;
        }
      },
    },
  ];
}

const notConfigured = refusal(404, "no `push:` section is configured on this daemon");
const unavailable = refusal(503, "the device registry's store is unavailable; the reason is in the cronstable log");

function unknownDevice(id: string): Answer {
  return refusal(404, `no paired device with id ${quoted(id)}`);
}

/** The one refusal with more to say than its reason. */
function notTaken(device: string, status: number | null, error: string): Answer {
  return { ...ownRefusal(502, error), body: JSON.stringify({ device, status, error }) };
}

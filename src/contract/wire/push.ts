import { z } from "zod";
import { instant, named, type Wire } from "./shape.ts";

export const pushDevice = named(
  "PushDevice",
  z.object({
    id: z.string(),
    name: z.string(),
    platform: z.string(),
    publicKey: z.string(),
    fingerprint: z.string().nullable(),
    /** The end of it. */
    pushToken: z.string(),
    createdAt: instant,
    createdBy: z.string().nullable(),
  }),
);
export type PushDevice = Wire<typeof pushDevice>;

export const pushDevices = named("PushDevices", z.object({ devices: z.array(pushDevice) }));

export const pairRequest = named(
  "PairRequest",
  z.object({
    name: z.string().max(64),
    platform: z.string().max(32),
    publicKey: z.string(),
    pushToken: z.string().max(512),
  }),
);

export const paired = named("Paired", z.object({ device: pushDevice, created: z.boolean() }));

export const revoked = named("Revoked", z.object({ revoked: z.string() }));

export const pushTest = named(
  "PushTest",
  z.object({ device: z.string(), status: z.int().nullable(), error: z.string().nullable() }),
);

import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { DEVICE_FILE_BYTES_MAX } from "../limits.ts";
import { Device } from "./device.ts";
import type { DeviceStore, StoredDevices } from "./device-store.ts";

const DeviceFile = z.object({
  version: z.literal(1),
  devices: z.array(Device),
  collapseSalt: z.string().min(1).optional(),
});

/**
 * The device registry as a file (`push.devicesFile`): JSON, readable by its owner alone, replaced as a whole. A file that cannot be
 * understood is never written over.
 */
export function deviceFile(path: string): DeviceStore {
  /** One change at a time; each reads what the one before wrote. */
  let last: Promise<unknown> = Promise.resolve();
  const change = <T>(
    work: (stored: StoredDevices) => { readonly next: StoredDevices | null; readonly answer: T },
  ): Promise<T> => {
    const turn = last.then(async () => {
      const { next, answer } = work(await read(path));
      if (next !== null) await write(path, next);
      return answer;
    });
    last = turn.catch(() => {});
    return turn;
  };
  return {
    read: () => read(path),
    put: (device) =>
      change(({ devices, salt }) => ({
        next: { devices: [...devices.filter(({ id }) => id !== device.id), device], salt },
        answer: undefined,
      })),
    remove: (id) =>
      change(({ devices, salt }) => {
        const rest = devices.filter((device) => device.id !== id);
        const removed = rest.length < devices.length;
        return { next: removed ? { devices: rest, salt } : null, answer: removed };
      }),
    createSalt: (candidate) =>
      change(({ devices, salt }) => ({
        next: salt === null ? { devices, salt: candidate } : null,
        answer: salt ?? candidate,
      })),
  };
}

async function read(path: string): Promise<StoredDevices> {
  let text: string;
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = await file.stat();
      if (size > DEVICE_FILE_BYTES_MAX) throw new Error(`${path} is larger than ${DEVICE_FILE_BYTES_MAX} bytes`);
      text = await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { devices: [], salt: null };
    throw error;
  }
  const parsed = DeviceFile.safeParse(json(text));
  if (!parsed.success) throw new Error(`${path} is not a device registry: ${z.prettifyError(parsed.error)}`);
  return { devices: parsed.data.devices, salt: parsed.data.collapseSalt ?? null };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function write(path: string, { devices, salt }: StoredDevices): Promise<void> {
  const content = { version: 1, devices, ...(salt === null ? {} : { collapseSalt: salt }) };
  const aside = `${path}.new-${process.pid}`;
  try {
    const file = await open(aside, "w", 0o600);
    try {
      await file.chmod(0o600);
      await file.writeFile(`${JSON.stringify(content, null, 1)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

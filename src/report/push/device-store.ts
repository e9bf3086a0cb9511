import type { Device } from "./device.ts";

/** What is stored of the registry. */
export interface StoredDevices {
  readonly devices: readonly Device[];
  /** 32 hex digits; null until first used. */
  readonly salt: string | null;
}

/** Where paired devices are kept: a file of this daemon, or the durable store that several share. All operations throw when it fails. */
export interface DeviceStore {
  read(): Promise<StoredDevices>;
  /** Adds the device or replaces the one of its id. */
  put(device: Device): Promise<void>;
  /** @returns whether there was one */
  remove(id: string): Promise<boolean>;
  /** Keeps `candidate` unless there is a salt already. @returns the one that is kept */
  createSalt(candidate: string): Promise<string>;
}

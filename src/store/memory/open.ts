import { type InThreadOptions, openInThread } from "../front/in-thread.ts";
import type { Store } from "../store.ts";
import { memoryEngine } from "./engine.ts";
import type { MemoryMedium } from "./medium.ts";

export interface MemoryStoreOptions extends InThreadOptions {
  readonly medium: MemoryMedium;
  /** 12 hex digits, unique on the medium. */
  readonly writer: string;
}

/** A store in memory. Deterministic. */
export function openMemoryStore({ medium, writer, ...options }: MemoryStoreOptions): Store {
  return openInThread(memoryEngine(medium, writer, { wallMicros: () => options.clock.wallNow() * 1000 }), options);
}

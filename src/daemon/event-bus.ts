import type { DaemonEvents, Events } from "../contract/events.ts";
import type { Logger } from "../contract/log.ts";

type Listeners = { [K in keyof DaemonEvents]?: Set<(event: DaemonEvents[K]) => void> };

/** The daemon's events. A listener that throws is logged and stops neither the others nor the emitter. */
export function createEvents(log: Logger): Events {
  const listeners: Listeners = {};
  return {
    emit(name, event) {
      for (const listener of listeners[name] ?? []) {
        try {
          listener(event);
        } catch (error) {
          log.error(
            `a listener of ${name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
          );
        }
      }
    },
    on<K extends keyof DaemonEvents>(name: K, listener: (event: DaemonEvents[K]) => void) {
      const set: Set<(event: DaemonEvents[K]) => void> = listeners[name] ?? new Set();
      (listeners as Record<K, Set<(event: DaemonEvents[K]) => void>>)[name] = set;
      set.add(listener);
      return () => set.delete(listener);
    },
  };
}

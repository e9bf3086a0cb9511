import type { Clock } from "../../../src/platform/clock.ts";

/**
 * Whether a simulated daemon is alive. A killed one goes on as code, since nothing stops code inside a process, but nothing it does
 * reaches the world any more and nothing of the world reaches it: everything it has of the world goes through here.
 */
export interface Life {
  readonly alive: boolean;
  /** SIGKILL right now, or the exit of a daemon that has stopped. */
  end(how: EndOfLife): void;
  /** SIGKILL when so many more effects have begun, in the middle of whatever it is then doing. */
  endAfter(effects: number): void;
  /** Right before each effect; answers whether it takes place. */
  effect(): boolean;
  /** Of what had been handed over at the end, the first few are still done: asked for each in turn. */
  landsAfterEnd(): boolean;
}

export type EndOfLife = "killed" | "stopped";

export function newLife(onEnd: (how: EndOfLife) => void, landingAfterEnd: number): Life {
  let alive = true;
  let left = Number.POSITIVE_INFINITY;
  let landing = landingAfterEnd;
  const end = (how: EndOfLife): void => {
    if (!alive) return;
    alive = false;
    onEnd(how);
  };
  return {
    get alive() {
      return alive;
    },
    end,
    endAfter(effects) {
      left = effects;
    },
    effect() {
      if (alive && left-- <= 0) end("killed");
      return alive;
    },
    landsAfterEnd: () => landing-- > 0,
  };
}

/** The clock as a process sees it: its timers end with it. */
export function clockOf(life: Life, clock: Clock): Clock {
  return {
    wallNow: clock.wallNow,
    elapsedNow: clock.elapsedNow,
    after(delayMs, run) {
      if (!life.alive) return () => {};
      return clock.after(delayMs, () => {
        if (life.effect()) run();
      });
    },
  };
}

/** Anything that answers with promises, as a process sees it: what it asks when it is dead is not asked, no answer reaches it then. */
export function whileAlive<T extends object>(life: Life, target: T): T {
  const parts = new Map<string | symbol, object>();
  return new Proxy(target, {
    get(from, key) {
      const value: unknown = Reflect.get(from, key);
      if (typeof value === "function") {
        return (...args: readonly unknown[]) => {
          if (!life.effect()) return never;
          const answer: unknown = Reflect.apply(value, from, args);
          return answer instanceof Promise ? answer.then((found: unknown) => (life.alive ? found : never)) : answer;
        };
      }
      if (typeof value !== "object" || value === null) return value;
      const part = parts.get(key) ?? whileAlive(life, value);
      parts.set(key, part);
      return part;
    },
  });
}

const never = new Promise<never>(() => {});

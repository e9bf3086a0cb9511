import type { Clock } from "../platform/clock.ts";

export type Waited<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "not done"; readonly because: string };

/** Waits for something at most so long; it goes on by itself when that is over. Never rejects. */
export async function patiently<T>(clock: Clock, patienceMs: number, work: Promise<T>): Promise<Waited<T>> {
  let cancel = (): void => undefined;
  const late = new Promise<Waited<T>>((resolve) => {
    cancel = clock.after(patienceMs, () =>
      resolve({ kind: "not done", because: `no answer within ${patienceMs / 1000} s` }),
    );
  });
  const ended = work.then(
    (value): Waited<T> => ({ kind: "done", value }),
    (error: unknown): Waited<T> => ({
      kind: "not done",
      because: error instanceof Error ? error.message : String(error),
    }),
  );
  const waited = await Promise.race([ended, late]);
  cancel();
  return waited;
}

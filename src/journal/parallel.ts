/** Does `work` for every item, at most `limit` at a time, in order of their start. `work` answers whether to go on with more. */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<"go on" | "stop">,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let stopped = false;
  const serve = async (): Promise<void> => {
    for (let next = rest.next(); !stopped && next.done !== true; next = rest.next()) {
      if ((await work(next.value)) === "stop") stopped = true;
    }
  };
  await Promise.all(Array.from({ length: limit }, serve));
}

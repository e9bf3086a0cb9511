import { jobDigest } from "../../../src/config/fingerprint.ts";
import type { Fact } from "../world/facts.ts";
import type { World } from "../world/world.ts";
import type { Invariant, Trouble } from "./invariant.ts";

/**
 * A definition's boot run starts once per boot of a host (BOO-1, BOO-3, BOO-4), and does start.
 *
 * More than once only where its marker could not be read or written and the policy is degrade (BOO-6); not at all only where the daemon
 * was killed between the marker and the run, or the policy is fail-closed.
 */
export function bootOnce(world: World, trouble: Trouble): Invariant {
  const launches = new Map<string, number>();
  const firstAt = new Map<string, number>();
  const bootOf = new Map<string, { readonly bootId: string; readonly at: number }>();
  const marked = new Set<string>();
  /** Boot jobs that a daemon found when it looked. */
  const owed = new Map<string, readonly { readonly name: string; readonly digest: string }[]>();
  /** Started or refused in a boot, by whatever definition. */
  const seenIn = new Set<string>();
  const keyOf = (host: string, bootId: string, digest: string): string => `${host} ${bootId} ${digest}`;
  return {
    promise: "an @reboot job runs once per boot of its host (BOO-1 to BOO-6)",
    saw(fact: Fact) {
      if (fact.kind === "daemon started") bootOf.set(fact.daemon.proc, { bootId: fact.bootId, at: fact.at });
      if (fact.kind === "landed" && fact.stream.startsWith("reboot/")) {
        const { host, bootId, jobDigest: digest } = fact.body;
        marked.add(keyOf(String(host), String(bootId), String(digest)));
      }
      if (fact.kind === "daemon resumed") {
        const boots = world.config().jobs.filter(({ timing, enabled }) => timing.kind === "reboot" && enabled);
        owed.set(
          fact.daemon.proc,
          boots.map((job) => ({ name: job.name, digest: jobDigest(job) })),
        );
      }
      if ((fact.kind === "refused" || fact.kind === "launched") && fact.trigger.kind === "boot") {
        const job = fact.kind === "refused" ? fact.job : fact.job.name;
        seenIn.add(`${bootOf.get(fact.daemon.proc)?.bootId} ${job}`);
      }
      if (fact.kind !== "launched" || fact.trigger.kind !== "boot") return null;
      const { host, proc } = fact.daemon;
      const boot = bootOf.get(proc);
      const key = keyOf(host, boot?.bootId ?? "", jobDigest(fact.job));
      const count = (launches.get(key) ?? 0) + 1;
      launches.set(key, count);
      if (count === 1) firstAt.set(key, fact.at);
      const stream = `reboot/${fact.job.name}`;
      const mayRepeat = world.setup.policy === "degrade" && trouble.since(host, null, (firstAt.get(key) ?? 0) - 60_000);
      if (count > 1 && !mayRepeat)
        return `${fact.job.name} started ${count} times in ${boot?.bootId} of ${host} (${stream})`;
      return null;
    },
    atEnd() {
      for (const { host, daemon } of world.places) {
        if (daemon === null) return `${host.name} has no daemon at the end`;
        const { bootId, at } = bootOf.get(daemon.id.proc) ?? { bootId: "", at: 0 };
        if (trouble.since(host.name, null, at)) continue;
        for (const { name, digest } of owed.get(daemon.id.proc) ?? []) {
          const isAccounted = marked.has(keyOf(host.name, bootId, digest)) || seenIn.has(`${bootId} ${name}`);
          if (!isAccounted) return `${name} has not started in ${bootId} of ${host.name}, and nothing says why`;
        }
      }
      return null;
    },
  };
}

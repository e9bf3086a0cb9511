import { claim, releaseClaim } from "../../client/job/calls.ts";
import { exitCode, type JobFamily, operand, scopeFlags, scopeOf } from "./job-command.ts";

/** `cronstable idempotent`: a key that is won once in the fleet (IDM-1). */
export const idempotentFamily: JobFamily = {
  word: "idempotent",
  commands: [
    {
      action: null,
      summary: "win a key once in the whole fleet: exit 0 the first time, 5 after that",
      operands: [{ name: "key" }],
      flags: [
        { name: "ttl", value: "SECONDS", kind: "number", summary: "how long the claim holds (default: 0, for ever)" },
        { name: "release", summary: "give the claim up, so that the key can be won again" },
        ...scopeFlags,
      ],
      async run(args, { endpoint }) {
        const key = operand(args);
        const scope = scopeOf(args);
        if (args.flags.has("release")) {
          await releaseClaim(endpoint(), scope, key);
          return exitCode.ok;
        }
        const fresh = await claim(endpoint(), scope, key, Number(args.flags.get("ttl") ?? 0));
        return fresh ? exitCode.ok : exitCode.claimed;
      },
    },
  ],
};

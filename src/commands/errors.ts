/** A command line that cannot be understood: printed behind the usage line, exit code 2. */
export class UsageError extends Error {}

/** What was asked for cannot be done: printed in one line, exit code 1. */
export class Refusal extends Error {}

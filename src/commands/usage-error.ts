/** A command line that cannot be understood: printed behind the usage line, exit code 2. */
export class UsageError extends Error {}

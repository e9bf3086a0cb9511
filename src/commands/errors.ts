/** A command line that cannot be understood: printed behind the usage line of `command`, exit code 2. */
export class UsageError extends Error {
  constructor(
    message: string,
    readonly command = "cronstable",
  ) {
    super(message);
  }
}

/** What was asked for cannot be done: printed in one line, exit code 1. `prefix` stands before it instead of the command's name. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly prefix: string | null = null,
  ) {
    super(message);
  }
}

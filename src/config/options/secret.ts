import { mapOf, orAbsent } from "./collections.ts";
import { textOrNone } from "./scalars.ts";

/** Where a secret comes from: the first of the three that is not empty. Read when it is used, not at load (config 5). */
export const secretKeys = {
  value: textOrNone.default(null).describe("The secret itself, in the file."),
  fromFile: textOrNone.default(null).describe("A file that holds it (UTF-8, blanks at both ends dropped)."),
  fromEnvVar: textOrNone.default(null).describe("A variable of the daemon's environment that holds it."),
};

export const secretSource = mapOf(secretKeys).meta({ id: "secret" });

/** Not configured. */
export const noSecret = orAbsent(secretSource);

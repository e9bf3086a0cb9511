import { z } from "zod";
import { named } from "./shape.ts";

/** The body of every refusal. */
export const errorShape = named("Error", z.object({ error: z.string() }));

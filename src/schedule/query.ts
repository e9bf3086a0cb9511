import type { CountBounds } from "./limits.ts";
import { utcZone, type Zone, zoneNamed } from "./zone.ts";

/** What a question about schedules comes to. The texts are what the asker is shown. */
export type Answer<T> =
  | { readonly kind: "answer"; readonly payload: T }
  | { readonly kind: "bad request"; readonly error: string }
  | { readonly kind: "not found"; readonly error: string };

export function badRequest(error: string): { readonly kind: "bad request"; readonly error: string } {
  return { kind: "bad request", error };
}

/** A count as a query gives it. Never an error: what is no whole number is the default, what is out of bounds the bound. */
export function boundedCount(text: string | null | undefined, bounds: CountBounds): number {
  if (text === null || text === undefined || !/^[+-]?[0-9]+$/.test(text.trim())) return bounds.otherwise;
  return Math.min(Math.max(Number(text), bounds.min), bounds.max);
}

/** The zone a query asks for: UTC when it asks for none. */
export function askedZone(name: string | null | undefined): Answer<Zone> {
  const zone = name === null || name === undefined || name === "" ? utcZone : zoneNamed(name);
  return zone === null ? badRequest(`unknown timezone: ${name}`) : { kind: "answer", payload: zone };
}

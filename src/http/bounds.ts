import type { CountBounds } from "../schedule/limits.ts";

/** How many rows a query may ask for (http 7). */
export const jobRunRows: CountBounds = { otherwise: 50, min: 1, max: 50 };
export const activityRows: CountBounds = { otherwise: 50, min: 1, max: 50 };
export const resourceRows: CountBounds = { otherwise: 20, min: 0, max: 50 };
export const dagRunRows: CountBounds = { otherwise: 50, min: 1, max: 500 };
export const stateRecordRows: CountBounds = { otherwise: 100, min: 1, max: 500 };
export const fleetRunRows: CountBounds = { otherwise: 100, min: 1, max: 500 };

/** A parsed timetable (schedules 2). */
export interface Schedule {
  /** Tokens as written, joined by single spaces. */
  readonly source: string;
  /** `source` with every `H` replaced. */
  readonly resolved: string;
  /** Exactly seven columns: late wake-ups treat it by the second (schedules 7.4). */
  readonly secondLevel: boolean;
}

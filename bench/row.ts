/** One figure of ours beside what it could cost at the least, measured in the same run. */
export interface BenchRow {
  readonly name: string;
  readonly ours: number;
  /** The same work without us; null where the figure stands alone. */
  readonly floor: number | null;
  readonly unit: string;
  /** `ours / floor`, null without a floor. */
  readonly ratio: number | null;
  /** What it is held to, in words. */
  readonly target?: string;
}
